import HTTPServer

extension HTTPRequestHead {
    /// Returns the value of the first cookie with this name, or nil if the request has none.
    func cookie(_ name: String) -> String? {
        let mark = "\(name)="
        let cookies = headers.lazy.filter { $0.name.lowercased() == "cookie" }.flatMap {
            $0.value.split(separator: ";").map { $0.drop { $0 == " " } }
        }
        return cookies.first { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) }
    }
}
