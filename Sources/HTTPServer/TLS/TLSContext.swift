import COpenSSL
import Glibc
import System

/// State shared by all TLS connections of a server: certificate, key and settings.
final class TLSContext: @unchecked Sendable {
    // Sendable because OpenSSL protects a context's reference count with its own locks, and the context
    // doesn't change after `init`.
    private let context: OpaquePointer

    /// Reads the files. Each kind of failure has its own error.
    init(_ options: HTTPServerTLSOptions) throws {
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw Self.failure(.system, "OpenSSL") }
        self.context = context
        guard yap_ssl_harden_server(context) == 1 else { throw Self.failure(.system, "TLS 1.2 is not there") }
        SSL_CTX_set_alpn_select_cb(context, chooseProtocol, nil)
        // A key with a passphrase is an error. Otherwise OpenSSL would prompt on the terminal.
        SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }

        try Self.checkReadable(options.certificatePath, .badCertificate)
        try Self.checkReadable(options.privateKeyPath, .badPrivateKey)
        guard SSL_CTX_use_certificate_chain_file(context, options.certificatePath) == 1 else {
            throw Self.failure(.badCertificate, "\(options.certificatePath) holds no PEM certificate")
        }
        if SSL_CTX_use_PrivateKey_file(context, options.privateKeyPath, SSL_FILETYPE_PEM) == 1,
            SSL_CTX_check_private_key(context) == 1
        {
            return
        }
        // X509_R_KEY_TYPE_MISMATCH and X509_R_KEY_VALUES_MISMATCH
        let reason = ERR_peek_last_error() & 0x7F_FFFF
        if reason == 115 || reason == 116 {
            throw Self.failure(
                .keyMismatch,
                "the key in \(options.privateKeyPath) is not that of the certificate in \(options.certificatePath)"
            )
        }
        throw Self.failure(
            .badPrivateKey, "\(options.privateKeyPath) holds no PEM private key without a passphrase")
    }

    deinit { SSL_CTX_free(context) }

    /// Makes a session for an accepted connection.
    func session(_ descriptor: Int32) -> TLSSession? {
        guard let handle = SSL_new(context) else { return nil }
        guard SSL_set_fd(handle, descriptor) == 1 else {
            SSL_free(handle)
            return nil
        }
        SSL_set_accept_state(handle)
        return TLSSession(handle)
    }

    private static func checkReadable(_ path: String, _ code: HTTPServerError.Code) throws {
        guard access(path, R_OK) == 0 else {
            throw HTTPServerError(
                code: code, message: "\(path) can't be read: \(String(cString: strerror(errno)))")
        }
    }

    private static func failure(_ code: HTTPServerError.Code, _ text: String) -> HTTPServerError {
        let number = ERR_peek_last_error()
        ERR_clear_error()
        guard number != 0, let reason = ERR_reason_error_string(number) else {
            return HTTPServerError(code: code, message: text)
        }
        return HTTPServerError(code: code, message: "\(text) (OpenSSL: \(String(cString: reason)))")
    }
}

/// The context of new connections. Existing connections keep theirs.
final class TLSCurrent: Sendable {
    private let options: HTTPServerTLSOptions
    private let context: Lock<TLSContext>

    /// Reads the files.
    init(_ options: HTTPServerTLSOptions) throws {
        self.options = options
        context = Lock(try TLSContext(options))
    }

    /// Reads the files again. On an error nothing changes.
    func reload() throws {
        let new = try TLSContext(options)
        context.withLock { $0 = new }
    }

    func session(_ descriptor: Int32) -> TLSSession? {
        context.withLock { $0 }.session(descriptor)
    }
}

/// Selects HTTP/1.1 from the client's protocols, and rejects a client without it.
private func chooseProtocol(
    _ session: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenLength: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let chosen, let chosenLength, let offered else { return SSL_TLSEXT_ERR_NOACK }
    let bytes = UnsafeBufferPointer(start: offered, count: Int(offeredLength))
    var start = 0
    while start < bytes.count {
        let end = start + 1 + Int(bytes[start])
        guard end <= bytes.count else { break }
        if bytes[(start + 1)..<end].elementsEqual("http/1.1".utf8) {
            chosen.pointee = offered + start + 1
            chosenLength.pointee = bytes[start]
            return SSL_TLSEXT_ERR_OK
        }
        start = end
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}
