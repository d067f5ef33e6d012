import Foundation

/// What the system says of processes and folders.
package enum ProcessReading {
    /// The most memory that the process has had since `forgetPeak`, in bytes.
    package static func peakBytes(of process: Int32) -> Int { kilobytes("VmHWM:", of: process) << 10 }

    /// The memory that the process has, in bytes.
    package static func residentBytes(of process: Int32) -> Int { kilobytes("VmRSS:", of: process) << 10 }

    /// Lets the peak begin anew.
    package static func forgetPeak(of process: Int32) {
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/\(process)/clear_refs"))
    }

    private static func kilobytes(_ name: String, of process: Int32) -> Int {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// The processor time of a process, in seconds.
    package static func processorSeconds(of process: Int32) -> Double {
        let stat = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        // Behind the name, which may have spaces: the times are the 14th and 15th word of the line.
        let words = stat.split(separator: ")").last?.split(separator: " ") ?? []
        guard words.count > 12, let user = Double(words[11]), let system = Double(words[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// What the files below a folder take on the disk, in bytes.
    package static func diskBytes(of folder: URL) -> Int {
        var sum = 0
        for case let file as String in FileManager.default.enumerator(atPath: folder.path) ?? .init() {
            var status = stat()
            guard lstat(folder.path + "/" + file, &status) == 0 else { continue }
            sum += Int(status.st_blocks) * 512
        }
        return sum
    }

    /// Lets this process have as many descriptors as it may.
    package static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
