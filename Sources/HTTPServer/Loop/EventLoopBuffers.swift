import CLinux
import Glibc

/// The memory that an event loop reads into and writes from, shared by its connections.
final class EventLoopBuffers {
    static let readBytes = 64 * 1024
    private static let vectorsMax = 16

    let read = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: readBytes)
    /// Output that is about to be encrypted: the size of a TLS record. Empty without TLS.
    let tls: UnsafeMutableBufferPointer<UInt8>
    let vectors = UnsafeMutableBufferPointer<iovec>.allocate(capacity: vectorsMax)

    init(usesTLS: Bool) {
        tls = .allocate(capacity: usesTLS ? 16 * 1024 : 0)
        vectors.initialize(repeating: iovec())
    }

    deinit {
        read.deallocate()
        tls.deallocate()
        vectors.deallocate()
    }
}
