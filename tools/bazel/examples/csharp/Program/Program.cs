using System;
using System.Linq;
using Example;

Console.WriteLine(Numbers.Sum(args.Select(int.Parse).ToArray()));
