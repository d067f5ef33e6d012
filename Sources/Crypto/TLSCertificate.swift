import COpenSSL

/// The certificates of a PEM file that a server presents, with the checks that an operator needs.
public final class TLSCertificate {
    /// Maximum certificates of a file. Further ones are ignored.
    private static let certificatesMax = 16

    private let path: String
    /// The certificates in the order of the file, the server's own first.
    private let certificates: [OpaquePointer]

    /// Reads the file.
    ///
    /// - Throws: `CryptoError` if it has no certificate.
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
        // Reaching the end of the file isn't an error.
        ERR_clear_error()
    }

    deinit {
        for certificate in certificates { X509_free(certificate) }
    }

    /// Returns the seconds until the first of them expires. Negative if one has expired.
    ///
    /// - Throws: `CryptoError` if the time of one can't be read.
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

    /// Returns true if the private key in a PEM file belongs to the first certificate.
    ///
    /// - Throws: `CryptoError` if it has no key without a passphrase.
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

    /// Number of the first certificate, from 1, that the following one hasn't issued. Nil if the chain is intact.
    public var brokenLink: Int? {
        defer { ERR_clear_error() }
        return certificates.indices.dropLast().first { index in
            let (certificate, issuer) = (certificates[index], certificates[index + 1])
            return X509_check_issued(issuer, certificate) != X509_V_OK
                || X509_verify(certificate, X509_get0_pubkey(issuer)) != 1
        }.map { $0 + 1 }
    }

    /// True if the last one ends a chain: it is self-issued, or issued by an authority that this machine trusts.
    public var isWhole: Bool {
        defer { ERR_clear_error() }
        guard let last = certificates.last else { return false }
        if X509_check_issued(last, last) == X509_V_OK { return true }
        guard let store = X509_STORE_new() else { return false }
        defer { X509_STORE_free(store) }
        // Another check reports expired certificates.
        guard X509_STORE_set_default_paths(store) == 1,
            X509_STORE_set_flags(store, UInt(X509_V_FLAG_NO_CHECK_TIME)) == 1,
            let context = X509_STORE_CTX_new()
        else { return false }
        defer { X509_STORE_CTX_free(context) }
        return X509_STORE_CTX_init(context, store, last, nil) == 1 && X509_verify_cert(context) == 1
    }
}

@available(*, unavailable) extension TLSCertificate: Sendable {}
