import CCurl

extension HTTPClientError {
    /// Converts libcurl's code and message.
    ///
    /// - Parameters:
    ///   - verified: OpenSSL's result for the server's certificate, an X509_V_ERR number. 0 is valid.
    ///   - connected: Whether the connection was established, so that the server may have received the request.
    ///   - answered: Whether a response began.
    init(_ code: CURLcode, detail: String, verified: Int, connected: Bool, answered: Bool) {
        let words = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
        let known = Self.code(code, connected: connected, answered: answered)
        self.init(known == .tlsRefused ? Self.tlsCode(code, words, verified: verified) : known, words)
    }

    /// OpenSSL's messages for bytes that aren't TLS.
    private static let noTLSWords = ["wrong version number", "unknown protocol", "packet length too long"]

    /// Returns why TLS failed.
    private static func tlsCode(_ code: CURLcode, _ words: String, verified: Int) -> Code {
        switch code {
        case CURLE_SSL_CACERT_BADFILE: .noAuthorities
        case CURLE_SSL_CONNECT_ERROR: noTLSWords.contains(where: words.contains) ? .notTLS : .tlsRefused
        case CURLE_PEER_FAILED_VERIFICATION:
            switch verified {
            // OpenSSL found no error, or libcurl hasn't asked it (1): libcurl itself compares the names. Other
            // versions have OpenSSL compare names and addresses.
            case 0, 1, 62, 64: .certificateOfOtherName
            // Not valid yet, and expired.
            case 9, 10: .certificateOfOtherTime
            default: .untrustedCertificate
            }
        default: .tlsRefused
        }
    }

    private static func code(_ code: CURLcode, connected: Bool, answered: Bool) -> Code {
        switch code {
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING,
            CURLE_TOO_MANY_REDIRECTS, CURLE_BAD_FUNCTION_ARGUMENT:
            // Addresses with another scheme are rejected before, so the unsupported protocol is the response's. A bad
            // argument is a header without a name or a colon.
            .invalidResponse
        case CURLE_URL_MALFORMAT: .invalidRequest
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .couldNotResolve
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: .couldNotConnect
        case CURLE_OPERATION_TIMEDOUT: connected ? .timedOut : .couldNotConnect
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_ENGINE_INITFAILED:
            .tlsRefused
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR,
            CURLE_SEND_FAIL_REWIND, CURLE_HTTP2, CURLE_SSL_SHUTDOWN_FAILED:
            answered ? .cutShort : .noAnswer
        case CURLE_FILESIZE_EXCEEDED: .responseTooLarge
        default: .internalError
        }
    }
}
