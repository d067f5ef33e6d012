import COpenSSL

/// The certificates of a PEM file that a server shows, as an operator wants to know them.
public final class TLSCertificate {
    /// A file has so many certificates at most; what comes behind is not looked at.
    private static let certificatesMax = 16

    private let path: String
    /// The server's own first, as they stand in the file.
    private let certificates: [OpaquePointer]

    /// Reads the file.
    ///
    /// - Throws: `CryptoError` when there is no certificate in it.
    public init(path: String) throws {
        self.path = path
        ERR_clear_error()
        guard let file = BIO_new_file(path, "r") else { throw CryptoError.last("the certificate \(path)") }
        defer { BIO_free(file) }
        var certificates: [OpaquePointer] = []
        while certificates.count < Self.certificatesMax,
            let certificate = PEM_read_bio_X509(file, nil, nil, nil)
        {
            certificates.append(certificate)
        }
        self.certificates = certificates
        guard !certificates.isEmpty else { throw CryptoError.last("the certificate \(path)") }
        // The file's end is none.
        ERR_clear_error()
    }

    deinit {
        for certificate in certificates { X509_free(certificate) }
    }

    /// How long all of them are good, in seconds; negative when one has run out.
    ///
    /// - Throws: `CryptoError` when one has no time that can be read.
    public func secondsLeft() throws -> Int {
        try certificates.map { certificate in
            var days: Int32 = 0
            var seconds: Int32 = 0
            guard ASN1_TIME_diff(&days, &seconds, nil, X509_get0_notAfter(certificate)) == 1 else {
                throw CryptoError.last("the certificate \(path)")
            }
            return Int(days) * 86_400 + Int(seconds)
        }.min() ?? 0
    }

    /// Whether the private key of a PEM file is that of the first.
    ///
    /// - Throws: `CryptoError` when there is no key without a passphrase in it.
    public func fits(keyPath: String) throws -> Bool {
        ERR_clear_error()
        guard let file = BIO_new_file(keyPath, "r") else { throw CryptoError.last("the key \(keyPath)") }
        defer { BIO_free(file) }
        guard let key = yap_pem_private_key(file) else { throw CryptoError.last("the key \(keyPath)") }
        defer {
            EVP_PKEY_free(key)
            ERR_clear_error()
        }
        return certificates.first.map { X509_check_private_key($0, key) == 1 } ?? false
    }

    /// The first certificate, counted from 1, that the one behind it hasn't issued; nil: each is the next one's.
    public var brokenLink: Int? {
        defer { ERR_clear_error() }
        return certificates.indices.dropLast().first { index in
            let (certificate, issuer) = (certificates[index], certificates[index + 1])
            return X509_check_issued(issuer, certificate) != X509_V_OK
                || X509_verify(certificate, X509_get0_pubkey(issuer)) != 1
        }.map { $0 + 1 }
    }

    /// Whether the last of them ends a chain: it has issued itself, or an authority that this machine trusts has issued
    /// it.
    public var isWhole: Bool {
        defer { ERR_clear_error() }
        guard let last = certificates.last else { return false }
        if X509_check_issued(last, last) == X509_V_OK { return true }
        guard let store = X509_STORE_new() else { return false }
        defer { X509_STORE_free(store) }
        // Of its time another check tells.
        guard X509_STORE_set_default_paths(store) == 1,
            X509_STORE_set_flags(store, UInt(X509_V_FLAG_NO_CHECK_TIME)) == 1,
            let context = X509_STORE_CTX_new()
        else { return false }
        defer { X509_STORE_CTX_free(context) }
        return X509_STORE_CTX_init(context, store, last, nil) == 1 && X509_verify_cert(context) == 1
    }
}

@available(*, unavailable) extension TLSCertificate: Sendable {}
