import COpenSSL

/// What an operator wants to know of a certificate.
public enum TLSCertificate {
    /// How long the first certificate of a PEM file is good, in seconds; negative when it has run out.
    ///
    /// - Throws: `CryptoError` when there is no certificate in it.
    public static func secondsLeft(path: String) throws -> Int {
        guard let file = BIO_new_file(path, "r") else { throw CryptoError.last("the certificate \(path)") }
        defer { BIO_free(file) }
        guard let certificate = PEM_read_bio_X509(file, nil, nil, nil) else {
            throw CryptoError.last("the certificate \(path)")
        }
        defer { X509_free(certificate) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard ASN1_TIME_diff(&days, &seconds, nil, X509_get0_notAfter(certificate)) == 1 else {
            throw CryptoError.last("the certificate \(path)")
        }
        return Int(days) * 86_400 + Int(seconds)
    }
}
