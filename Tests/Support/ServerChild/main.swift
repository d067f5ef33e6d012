import CLinux
import Glibc
import HTTPServer
import System

// Serves until its standard input ends, and prints the port first. For tests that need a process of its own: to run out
// of descriptors, to count bytes of memory, to measure.
// Usage: ServerChild DESCRIPTORS_MAX [LOOPS]

struct ChildHandler: HTTPHandler {
    /// nil once the server stops.
    let parked = Lock<[HTTPExchange]?>([])
    static let body = Array("{\"records\":[\"\(String(repeating: "x", count: 1000))\"]}".utf8)

    func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan { .collect(bytesMax: 1 << 20) }

    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        if request.head.path == "/park" {
            let isParked = parked.withLock { parked in
                parked?.append(exchange)
                return parked != nil
            }
            if isParked { return }
        }
        exchange.respond(HTTPResponse(status: 200, contentType: "application/json", body: Self.body))
    }

    func stopping() {
        let exchanges = parked.withLock { parked in
            defer { parked = nil }
            return parked ?? []
        }
        for exchange in exchanges { exchange.respond(HTTPResponse(status: 200)) }
    }
}

var limit = rlimit()
limit.rlim_cur = rlim_t(CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1024)
limit.rlim_max = limit.rlim_cur
setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)

var options = HTTPServerOptions()
options.answerTimeoutSeconds = 600
if let count = CommandLine.arguments.dropFirst(2).first.flatMap({ Int($0) }) { options.loopCount = count }
let server = HTTPServer(options: options, handler: ChildHandler())
do {
    try server.start()
    let line = "\(server.port)\n"
    _ = line.withCString { write(1, $0, strlen($0)) }
    var byte: UInt8 = 0
    while read(0, &byte, 1) > 0 {}
    server.stop(graceMilliseconds: 5000)
} catch {
    let line = "\(error)\n"
    _ = line.withCString { write(2, $0, strlen($0)) }
    exit(1)
}
