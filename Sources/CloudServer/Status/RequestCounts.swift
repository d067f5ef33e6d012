import CloudService
import CloudWire
import HTTPServer

/// Counts of the requests since the start. Its size doesn't depend on the number of users or containers, or
/// on names sent by clients.
struct RequestCounts {
    private struct Key: Hashable, Comparable {
        let operation: String
        let status: Int

        static func < (left: Key, right: Key) -> Bool {
            (left.operation, left.status) < (right.operation, right.status)
        }
    }

    private static let secondsEnds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
    private static let groupEnds = [1, 2, 4, 8, 16, 32, 64, 128, 256].map(Double.init)

    private var requests: [Key: Int] = [:]
    private var seconds: [String: Histogram] = [:]
    private var errors: [String: Int] = [:]
    private var recordErrors: [String: Int] = [:]
    private var groups = Histogram(ends: groupEnds)
    private var bytesIn: Int64 = 0
    private var bytesOut: Int64 = 0

    mutating func count(_ summary: HTTPExchangeSummary) {
        let operation = Self.operation(of: summary.route)
        requests[Key(operation: operation, status: summary.status), default: 0] += 1
        bytesIn += Int64(summary.bytesIn)
        bytesOut += Int64(summary.bytesOut)
        let note = summary.note?.service
        if let code = note?.errorCode { errors[code, default: 0] += 1 }
        recordErrors.merge(note?.recordErrors ?? [:], uniquingKeysWith: +)
        if let writes = note?.groupRequests, writes > 0 { groups.add(Double(writes)) }
        // A long poll's duration isn't that of the server's work.
        guard operation != "courier" else { return }
        seconds[operation, default: Histogram(ends: Self.secondsEnds)].add(
            Double(summary.milliseconds) / 1000)
    }

    func write(to text: inout MetricsText) {
        text.family("yap_requests_total", .counter, "Responses, by operation and HTTP status.")
        for (key, count) in requests.sorted(by: { $0.key < $1.key }) {
            text.sample(
                "yap_requests_total", [("operation", key.operation), ("status", "\(key.status)")],
                Double(count))
        }
        let name = "yap_request_duration_seconds"
        text.family(
            name, .histogram, "Time from a request's first byte to its response's last, without long polls.")
        for (operation, histogram) in seconds.sorted(by: { $0.key < $1.key }) {
            histogram.write(name, [("operation", operation)], to: &text)
        }
        for (name, help, counts) in [
            ("yap_request_errors_total", "Requests refused as a whole, by CloudKit's code.", errors),
            ("yap_record_errors_total", "Records with an error, by code.", recordErrors),
        ] {
            text.family(name, .counter, help)
            for (code, count) in counts.sorted(by: { $0.key < $1.key }) {
                text.sample(name, [("code", code)], Double(count))
            }
        }
        text.family("yap_write_group_requests", .histogram, "Writes in one commit, counted by each of them.")
        groups.write("yap_write_group_requests", [], to: &text)
        text.single(
            "yap_request_bytes_total", .counter, "Bytes of requests received.", Double(bytesIn))
        text.single("yap_response_bytes_total", .counter, "Bytes of responses sent.", Double(bytesOut))
    }

    /// Returns the operation's name: one of a fixed set, for any path.
    static func operation(of route: Route) -> String {
        switch route {
        case .service(let path):
            return CloudService.operationNames.contains(path.endpoint) ? path.endpoint : "other"
        case .courier: return "courier"
        case .signIn: return "sign-in"
        case .health, .live: return "health"
        case .metrics: return "metrics"
        default: return "other"
        }
    }
}
