internal import HTTPClient

/// Why no connection to a server comes about that is there. To an app each is `CKError.networkFailure`; a sync tells
/// them from a network that is away, because waiting alone mends none of them.
package enum ConnectionRefusal: String, Sendable {
    /// The server's certificate can't be trusted.
    case certificate
    /// The address begins with `https://` for a port of plain HTTP, or with `http://` for one of TLS.
    case scheme

    /// Where it stands in the error's `userInfo`.
    package static let userInfoKey = "YapConnectionRefusal"

    init?(_ code: HTTPClientError.Code) {
        switch code {
        case .untrustedCertificate, .certificateOfOtherName, .certificateOfOtherTime, .noAuthorities:
            self = .certificate
        case .notTLS, .needsTLS: self = .scheme
        default: return nil
        }
    }

    /// What to do about it.
    static func remedy(_ code: HTTPClientError.Code) -> String? {
        switch code {
        case .untrustedCertificate:
            "If the server is yours, name a file with its certificate, or with its authority's: "
                + "CLOUDKIT_AUTHORITIES_FILE, `authoritiesFile` in cloudkit.json, or `--authorities FILE` of "
                + "`yap login`."
        case .certificateOfOtherName:
            "Ask the server by a name that its certificate is for (CLOUDKIT_SERVER, or `server` in cloudkit.json), "
                + "or give it a certificate for this one."
        case .certificateOfOtherTime:
            "Give the server a certificate that is good today; look at this device's clock too."
        case .noAuthorities:
            "Mend the path of CLOUDKIT_AUTHORITIES_FILE, or of `authoritiesFile` in cloudkit.json: it names a file "
                + "with certificates in PEM."
        case .notTLS:
            "Begin the server's address with http://, or name its port of TLS (CLOUDKIT_SERVER, or `server` in "
                + "cloudkit.json)."
        case .needsTLS:
            "Begin the server's address with https:// (CLOUDKIT_SERVER, or `server` in cloudkit.json)."
        default: nil
        }
    }
}

extension CKError {
    /// Why there is no connection to a server that is there; nil for other errors.
    package var connectionRefusal: ConnectionRefusal? {
        (userInfo[ConnectionRefusal.userInfoKey] as? String).flatMap { ConnectionRefusal(rawValue: $0) }
    }
}
