namespace Refused;

public class WithoutTests;
