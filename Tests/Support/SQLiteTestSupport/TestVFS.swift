import CTestVFS
import System

/// A registered C shim, unregistered when the last owner lets go of it.
final class TestVFS: @unchecked Sendable {
    // Sendable because every C function takes the shim's own mutex.
    let pointer: OpaquePointer
    let name: String

    private static let count = Lock(0)

    init(tracksPower: Bool) {
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        name = "test\(number)"
        guard let pointer = test_vfs_create(name, tracksPower ? 1 : 0) else {
            preconditionFailure("no memory for a VFS")
        }
        self.pointer = pointer
    }

    deinit {
        // With files still open through it the shim stays: a leak in a test, and no dangling pointer in SQLite.
        _ = test_vfs_destroy(pointer)
    }
}
