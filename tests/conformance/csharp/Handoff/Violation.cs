namespace Hurray.Conformance;

/// <summary>What the device finds wrong: FakeViolation.</summary>
public enum Violation : uint
{
    None = 0,
    UnorderedRead = 1,
    UnorderedWrite = 2,
    WaitUnrecorded = 3,
    HandoffUnsynced = 4,
    HandoffEventUnrecorded = 5,
    HandoffEventMissesWrite = 6,
    EventRecordedLate = 7,
    HandoffNoDependency = 8,
    EventReleasedTwice = 9,
    EventNeverReleased = 10,
    EventUsedAfterRelease = 11,
    MemoryReleasedTwice = 12,
    MemoryNeverReleased = 13,
    MemoryUsedAfterRelease = 14,
    UnknownHandle = 15,
    HandoffUnpaired = 16,
    HandoffBadMode = 17,
    ReleasedByFailedHandoff = 18,
}
