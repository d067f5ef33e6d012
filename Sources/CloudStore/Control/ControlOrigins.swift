/// Rules for the origins of an API token and the redirect address of a sign-in page.
package enum ControlOrigins {
    static let originsMax = 100
    static let originBytesMax = 300
    static let callbackBytesMax = 2_000

    /// Returns the origins as browsers send them, unique and sorted.
    static func checked(_ origins: [String]) throws -> [String] {
        guard origins.count <= originsMax else { throw ControlError.badOrigin(origins[originsMax]) }
        return Set(try origins.map(checked)).sorted()
    }

    /// Reads the origins from the text in the file, one in each line. Nil for any origin.
    static func list(_ text: String?) -> [String]? {
        text?.split(separator: "\n").map(String.init)
    }

    /// Returns true if the text is an origin as a browser sends it.
    static func isOrigin(_ text: String) -> Bool { (try? checked(text)) == text }

    /// Returns the origin of a redirect address for a content security policy. For an app's own scheme it is only the
    /// scheme.
    package static func origin(ofCallback text: String) -> String {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https" else { return "\(scheme):" }
        let authority = text.dropFirst(scheme.utf8.count + 3).prefix { $0 != "/" && $0 != "?" }
        return "\(scheme)://\(authority.lowercased())"
    }

    /// Returns an origin in lower case, without a default port and without a slash at its end.
    private static func checked(_ text: String) throws -> String {
        var origin = text.lowercased()
        if origin.hasSuffix("/") { origin.removeLast() }
        guard
            let (scheme, usualPort) = [("https://", ":443"), ("http://", ":80")]
                .first(where: { origin.hasPrefix($0.0) }), origin.utf8.count <= originBytesMax
        else { throw ControlError.badOrigin(text) }
        if origin.hasSuffix(usualPort) { origin.removeLast(usualPort.count) }
        let host = origin.dropFirst(scheme.count)
        let parts = host.hasPrefix("[") ? [] : host.split(separator: ":", omittingEmptySubsequences: false)
        let isHost =
            host.hasPrefix("[")
            ? isAddress(host)
            : (1...2).contains(parts.count) && isName(parts[0]) && parts.dropFirst().allSatisfy(isPort)
        guard isHost else { throw ControlError.badOrigin(text) }
        return origin
    }

    /// Accepts the address of a page or an app. Rejects schemes that run or stay in the sign-in page.
    static func checkCallback(_ text: String) throws {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        let rest = text.dropFirst(scheme.count)
        let isScheme =
            scheme.utf8.first.map { (0x61...0x7A).contains($0) } == true
            && scheme.utf8.allSatisfy {
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0)
            }
        let isPlain = text.utf8.allSatisfy {
            (0x21...0x7E).contains($0) && !#"#"'<>\^`{|}"#.utf8.contains($0)
        }
        let isOurs = ["javascript", "data", "vbscript", "file", "blob", "about"].contains(scheme)
        let needsHost = scheme == "http" || scheme == "https"
        let authority = rest.dropFirst(3).prefix { $0 != "/" && $0 != "?" }
        guard isScheme, isPlain, !isOurs, text.utf8.count <= callbackBytesMax, rest.hasPrefix("://"),
            !needsHost || (try? checked("\(scheme)://\(authority)")) != nil
        else { throw ControlError.badCallback(text) }
    }

    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E
                    || $0 == 0x5F
            }
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.utf8.first != 0x30 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            && UInt16(text).map { $0 > 0 } == true
    }

    /// Accepts an IPv6 address in brackets, with or without a port.
    private static func isAddress(_ text: Substring) -> Bool {
        guard let end = text.firstIndex(of: "]") else { return false }
        let digits = text[..<end].dropFirst()
        let port = text[text.index(after: end)...]
        return !digits.isEmpty
            && digits.utf8.allSatisfy { (0x30...0x3A).contains($0) || (0x61...0x66).contains($0) }
            && (port.isEmpty || port.hasPrefix(":") && isPort(port.dropFirst()))
    }
}
