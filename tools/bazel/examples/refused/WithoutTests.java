package refused;

class WithoutTests {
    private WithoutTests() {}
}
