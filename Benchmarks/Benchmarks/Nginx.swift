import CBenchmarks
import Foundation

/// nginx on a port of its own, set up to be fast: it serves files of a folder.
@MainActor
final class Nginx {
    let port: Int
    let process: ChildProcess
    private static let paths = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"]

    /// Starts nginx with a folder that has the files in `content`; each is named by its place in it.
    init(folder: URL, content: [[UInt8]], workersCount: Int, usesSendfile: Bool = true) throws {
        guard let executable = Self.paths.first(where: FileManager.default.isExecutableFile) else {
            throw BenchError("there is no nginx; `make bench` installs it, see system-packages.txt")
        }
        let root = folder.appendingPathComponent("files")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        for (index, bytes) in content.enumerated() {
            try Data(bytes).write(to: root.appendingPathComponent("\(index)"))
        }
        port = try Self.freePort()
        let configuration = folder.appendingPathComponent("nginx.conf")
        try Self.configuration(
            folder: folder, port: port, workersCount: workersCount, sendfile: usesSendfile ? "on" : "off"
        )
        .write(to: configuration, atomically: false, encoding: .utf8)
        process = try ChildProcess(
            executable, ["-p", folder.path, "-e", "error.log", "-c", configuration.path])
        try waitUntilServing()
    }

    func end() {
        process.end()
    }

    /// The request for a file.
    static func request(_ number: Int) -> [UInt8] {
        Array("GET /\(number) HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n".utf8)
    }

    private func waitUntilServing() throws {
        for _ in 0..<500 {
            let connection = load_connect(Int32(port))
            if connection >= 0 {
                Glibc.close(connection)
                return
            }
            poll(nil, 0, 10)
        }
        end()
        throw BenchError("nginx did not start on port \(port)")
    }

    private static func configuration(
        folder: URL, port: Int, workersCount: Int, sendfile: String
    ) -> String {
        // Under root the workers would be another user, who may not read the folder.
        let user = getuid() == 0 ? "user root;" : ""
        return """
            \(user)
            daemon off;
            worker_processes \(workersCount);
            worker_rlimit_nofile 20000;
            pid nginx.pid;
            error_log error.log crit;
            events { worker_connections 16384; }
            http {
                access_log off;
                default_type application/json;
                sendfile \(sendfile);
                tcp_nopush on;
                tcp_nodelay on;
                keepalive_timeout 300s;
                keepalive_requests 1000000000;
                open_file_cache max=10000 inactive=300s;
                open_file_cache_valid 300s;
                client_body_temp_path body;
                proxy_temp_path proxy;
                fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi;
                scgi_temp_path scgi;
                server { listen 127.0.0.1:\(port) reuseport; root files; }
            }
            """
    }

    /// A port that was free a moment ago.
    private static func freePort() throws -> Int {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { Glibc.close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 ? getsockname(listener, $0, &size) : -1
            }
        }
        guard code == 0 else { throw BenchError("no free port: error \(errno)") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
