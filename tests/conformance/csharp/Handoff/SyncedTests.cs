using System;
using System.Linq;
using Xunit;

namespace Hurray.Conformance;

/// <summary>PRODUCER_SYNCED: the host has waited before the handoff.</summary>
public class SyncedTests : DeviceTest
{
    [Fact]
    public void Host_that_waited_before_the_handoff_is_in_order()
    {
        Fake.Write(Producer, Memory);
        Fake.HostWait(Producer);
        using (Tensor tensor = Travel(Parts(HandOff(SyncMode.ProducerSynced), SyncMode.ProducerSynced)))
        {
            BufferSync sync = tensor.SyncOf(0);
            Assert.Equal(SyncMode.ProducerSynced, sync.Mode);
            // Any stream, and the host: nobody needs to wait.
            Fake.Read(Consumer, sync.Data);
            Fake.Read(Other, sync.Data);
            Fake.HostRead(sync.Data);
        }

        Assert.Equal(
            [
                "write memory 1 on producer", "wait host for producer", "handoff begins memory 1 mode 0",
                "handoff returned memory 1 mode 0", "read memory 1 on consumer", "read memory 1 on other", "host read memory 1",
                "release memory 1",
            ],
            Fake.Log);
        AssertInOrder();
    }

    [Fact]
    public void Violations_have_the_devices_own_numbers()
    {
        foreach (Violation kind in Enum.GetValues<Violation>().Where(kind => kind != Violation.None))
        {
            Assert.Equal(kind.ToString(), FakeDevice.NameOf(kind).Replace("_", ""), ignoreCase: true);
        }

        Assert.Equal("?", FakeDevice.NameOf(Enum.GetValues<Violation>().Max() + 1));
    }

    [Fact]
    public void Host_that_did_not_wait_is_caught()
    {
        Fake.Write(Producer, Memory);
        using (Tensor tensor = Travel(Parts(HandOff(SyncMode.ProducerSynced), SyncMode.ProducerSynced)))
        {
            // Seen at the handoff itself, and once more where somebody reads what may not be there.
            Assert.Contains(Violation.HandoffUnsynced, Fake.Violations);
            Fake.ForgetViolations();
            Fake.Read(Consumer, tensor.SyncOf(0).Data);
            AssertCaught(Violation.UnorderedRead);
        }

        AssertInOrder();
    }

    [Fact]
    public void Host_that_waited_before_the_last_write_is_caught()
    {
        Fake.Write(Producer, Memory);
        Fake.HostWait(Producer);
        Fake.Write(Producer, Memory);
        HandOff(SyncMode.ProducerSynced).Dispose();
        Assert.Contains(Violation.HandoffUnsynced, Fake.Violations);
    }
}
