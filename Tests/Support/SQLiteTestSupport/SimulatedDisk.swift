import CTestVFS

/// The disk of a simulated machine: an SQLite VFS under which a process ends, the power goes, the disk is full, or
/// syncs fail, whenever the simulation says so.
///
/// Files belong to it while it lives: change them through it only. Safe to use from any thread.
public final class SimulatedDisk: Sendable {
    /// What a machine finds on its disk when it starts again.
    public enum Remains: Hashable, Sendable {
        /// The process ended: all that it wrote.
        case writes
        /// The power went: what was synced, and of the rest what a seed decides.
        case synced(seed: UInt64)
    }

    private let vfs = TestVFS(tracksPower: true)

    /// Registers a VFS under a name of its own.
    public init() {}

    /// For `OpenOptions.vfsName`.
    public var name: String { vfs.name }

    /// How many calls there were that change the disk: writes, syncs, truncations, deletions.
    public var changesCount: Int { Int(test_vfs_changes(vfs.pointer)) }

    /// Whether every call fails, because the process ended or the power is cut.
    public var isDead: Bool { test_vfs_is_power_cut(vfs.pointer) != 0 }

    /// Lets every call fail from now on.
    public func die() {
        test_vfs_cut_power(vfs.pointer)
    }

    /// Lets every call fail from the `nth` call on (1 is the next) that changes the disk.
    /// - Parameter losesPower: Whether the power goes with that call, or the process ends.
    public func die(atChange nth: Int, losesPower: Bool) {
        precondition(nth > 0)
        if losesPower {
            test_vfs_cut_power_at(vfs.pointer, Int64(nth))
        } else {
            test_vfs_end_process_at(vfs.pointer, Int64(nth))
        }
    }

    /// Takes a death back that was to come.
    public func spare() {
        test_vfs_cut_power_at(vfs.pointer, 0)
    }

    /// Starts the machine again.
    /// - Throws: `PowerLossError` when a connection is still open or a file can't be written.
    public func start(with remains: Remains) throws {
        let isStarted =
            switch remains {
            case .writes: test_vfs_start_process(vfs.pointer)
            case .synced(let seed): test_vfs_restore_power(vfs.pointer, seed)
            }
        guard isStarted != 0 else { throw PowerLossError() }
    }

    /// Makes the disk full when files have grown by `bytes` in all from now on.
    public func limitGrowth(toBytes bytes: Int) {
        test_vfs_limit_growth(vfs.pointer, Int64(bytes))
    }

    /// Lets every sync fail from the `nth` on (1 is the next).
    public func failSyncs(from nth: Int = 1) {
        precondition(nth > 0)
        test_vfs_arm(vfs.pointer, Int32(TEST_VFS_SYNC.rawValue), Int64(nth), 1, 0)
    }

    /// Ends what `limitGrowth` and `failSyncs` began.
    public func mend() {
        test_vfs_disarm(vfs.pointer)
    }
}
