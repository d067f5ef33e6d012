internal import HTTPClient

/// The reason that an existing server can't be connected to. For an app each is `CKError.networkFailure`. A sync treats
/// them differently from a missing network, because waiting doesn't help.
package enum ConnectionRefusal: String, Sendable {
    /// The server's certificate can't be trusted.
    case certificate
    /// The address begins with `https://` for a port of plain HTTP, or with `http://` for one of TLS.
    case scheme

    /// Its key in the error's `userInfo`.
    package static let userInfoKey = "YapConnectionRefusal"

    init?(_ code: HTTPClientError.Code) {
        switch code {
        case .untrustedCertificate, .certificateOfOtherName, .certificateOfOtherTime, .noAuthorities:
            self = .certificate
        case .notTLS, .needsTLS: self = .scheme
        default: return nil
        }
    }

    /// How to correct it.
    static func remedy(_ code: HTTPClientError.Code) -> String? {
        switch code {
        case .untrustedCertificate:
            "If the server is yours, set a file with its certificate or its authority's: "
                + "CLOUDKIT_AUTHORITIES_FILE, `authoritiesFile` in cloudkit.json, or `--authorities FILE` of "
                + "`yap login`."
        case .certificateOfOtherName:
            "Use a host name that the certificate has (CLOUDKIT_SERVER, or `server` in cloudkit.json), "
                + "or give the server a certificate for this name."
        case .certificateOfOtherTime:
            "Give the server a valid certificate; check this device's clock too."
        case .noAuthorities:
            "Correct the path of CLOUDKIT_AUTHORITIES_FILE, or of `authoritiesFile` in cloudkit.json: a file "
                + "with certificates in PEM."
        case .notTLS:
            "Begin the server's URL with http://, or use its TLS port (CLOUDKIT_SERVER, or `server` in "
                + "cloudkit.json)."
        case .needsTLS:
            "Begin the server's URL with https:// (CLOUDKIT_SERVER, or `server` in cloudkit.json)."
        default: nil
        }
    }
}

extension CKError {
    /// The reason that an existing server can't be connected to; nil for other errors.
    package var connectionRefusal: ConnectionRefusal? {
        (userInfo[ConnectionRefusal.userInfoKey] as? String).flatMap { ConnectionRefusal(rawValue: $0) }
    }
}
