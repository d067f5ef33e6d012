import CLinux
import Foundation

/// Sends on a thread of its own, for a client that reads meanwhile.
final class Sender: @unchecked Sendable {
    // Sendable because the descriptor may be used from two threads, and `done` is a semaphore.
    private let done = DispatchSemaphore(value: 0)

    init(_ client: RawClient, _ bytes: [UInt8]) {
        let descriptor = client.descriptor
        let done = done
        Thread {
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    send(
                        descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent,
                        Int32(MSG_NOSIGNAL))
                }
                if count <= 0 { break }
                sent += count
            }
            done.signal()
        }.start()
    }

    /// Waits until all is sent or the connection is gone.
    func wait() { done.wait() }
}
