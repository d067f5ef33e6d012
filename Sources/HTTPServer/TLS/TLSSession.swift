import COpenSSL
import Glibc

/// The TLS session of one connection. It reads and writes the connection's descriptor, and never blocks.
final class TLSSession {
    private let handle: OpaquePointer
    private var isBroken = false
    /// True if the client sent plain HTTP.
    private(set) var sawPlainHTTP = false

    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { SSL_free(handle) }

    /// Continues the handshake. Returns `.bytes` when it is complete.
    func shakeHands() -> TransportResult {
        ERR_clear_error()
        let code = SSL_do_handshake(handle)
        guard code != 1 else { return .bytes(0) }
        let result = failure(code)
        // SSL_R_HTTP_REQUEST
        if case .failed = result { sawPlainHTTP = ERR_peek_error() & 0x7F_FFFF == 156 }
        return result
    }

    func receive(into buffer: UnsafeMutableBufferPointer<UInt8>) -> TransportResult {
        ERR_clear_error()
        let count = SSL_read(handle, buffer.baseAddress, Int32(clamping: buffer.count))
        return count > 0 ? .bytes(Int(count)) : failure(count)
    }

    func send(_ bytes: UnsafeBufferPointer<UInt8>) -> TransportResult {
        ERR_clear_error()
        let count = SSL_write(handle, bytes.baseAddress, Int32(clamping: bytes.count))
        return count > 0 ? .bytes(Int(count)) : failure(count)
    }

    /// Sends the close notification of TLS, if the kernel accepts it now.
    func sayGoodbye() {
        if isBroken || SSL_is_init_finished(handle) != 1 { return }
        ERR_clear_error()
        SSL_shutdown(handle)
    }

    private func failure(_ code: Int32) -> TransportResult {
        switch SSL_get_error(handle, code) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .blocked
        case SSL_ERROR_ZERO_RETURN: return .ended
        default:
            isBroken = true
            return .failed
        }
    }
}
