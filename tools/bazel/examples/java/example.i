%module example
%include <stdint.i>
%{
#include "example.h"
%}
// Java has no unsigned types: SWIG would take a BigInteger.
%apply long long { uint64_t };
%ignore example_call;
%include "example.h"
