import COpenSSL
import Glibc
import SQLiteTestSupport

/// A key and a certificate for 127.0.0.1 that it signs itself, in two files.
final class TestCertificate: Sendable {
    let certificatePath: String
    let keyPath: String
    private let folder: TemporaryFolder

    init(_ folder: TemporaryFolder, _ name: String) throws {
        self.folder = folder
        certificatePath = folder.file(name + "-certificate.pem")
        keyPath = folder.file(name + "-key.pem")
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_keygen(context, &key) == 1,
            let certificate = X509_new()
        else { throw RawClient.Failure(description: "no key") }
        defer {
            EVP_PKEY_free(key)
            X509_free(certificate)
        }
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
        X509_gmtime_adj(X509_getm_notBefore(certificate), -86400)
        X509_gmtime_adj(X509_getm_notAfter(certificate), 86400)
        X509_set_pubkey(certificate, key)
        let subject = X509_get_subject_name(certificate)
        let names: [UInt8] = Array("127.0.0.1".utf8)
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, names, Int32(names.count), -1, 0)
        X509_set_issuer_name(certificate, subject)
        guard X509_sign(certificate, key, nil) > 0 else {
            throw RawClient.Failure(description: "no signature")
        }
        let certificateFile = fopen(certificatePath, "w")
        PEM_write_X509(certificateFile, certificate)
        fclose(certificateFile)
        let keyFile = fopen(keyPath, "w")
        PEM_write_PrivateKey(keyFile, key, nil, nil, 0, nil, nil)
        fclose(keyFile)
    }
}

/// A client that speaks TLS over a socket that may block.
final class TLSClient {
    private let raw: RawClient
    private let context: OpaquePointer
    private let handle: OpaquePointer

    init(
        port: Int, trusting certificate: TestCertificate, versionMax: Int32 = TLS1_3_VERSION,
        offering protocols: [String] = []
    ) throws {
        raw = try RawClient(port: port)
        guard let context = SSL_CTX_new(TLS_client_method()), let handle = Self.handle(context, certificate)
        else {
            throw RawClient.Failure(description: "no TLS")
        }
        self.context = context
        self.handle = handle
        SSL_ctrl(handle, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(versionMax), nil)
        let offered = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        if !offered.isEmpty { SSL_set_alpn_protos(handle, offered, UInt32(offered.count)) }
        SSL_set_fd(handle, raw.descriptor)
        guard SSL_connect(handle) == 1 else { throw RawClient.Failure(description: "no handshake") }
        guard SSL_get_verify_result(handle) == Int(X509_V_OK) else {
            throw RawClient.Failure(description: "another certificate")
        }
    }

    private static func handle(_ context: OpaquePointer, _ certificate: TestCertificate) -> OpaquePointer? {
        SSL_CTX_load_verify_locations(context, certificate.certificatePath, nil)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        return SSL_new(context)
    }

    deinit {
        SSL_free(handle)
        SSL_CTX_free(context)
    }

    var chosenProtocol: String {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(handle, &name, &count)
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        SSL_write(handle, bytes, Int32(bytes.count))
    }

    /// Reads until what came ends with `end`.
    func receive(until end: String) throws -> String {
        var bytes = [UInt8]()
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !bytes.suffix(end.utf8.count).elementsEqual(end.utf8) {
            guard SSL_has_pending(handle) == 1 || raw.waitUntilReadable() else {
                throw RawClient.Failure(description: "nothing came in a minute")
            }
            let count = SSL_read(handle, &buffer, Int32(buffer.count))
            guard count > 0 else {
                throw RawClient.Failure(description: "closed after \(String(decoding: bytes, as: UTF8.self))")
            }
            bytes += buffer[..<Int(count)]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the stream ends as TLS says that it should.
    func seesGoodbye() -> Bool {
        var byte: UInt8 = 0
        let code = SSL_read(handle, &byte, 1)
        return code <= 0 && SSL_get_error(handle, code) == SSL_ERROR_ZERO_RETURN
    }
}
