import Foundation
internal import System

/// Counts the transferred bytes of a file, and reports each further percent. A transfer that starts again is reported
/// once it exceeds the former fraction.
final class ProgressMeter: Sendable {
    /// The smallest reported difference.
    private static let step = 0.01

    private let told = Lock(0.0)
    private let tell: @Sendable (Double) -> Void

    init(_ tell: @escaping @Sendable (Double) -> Void) {
        self.tell = tell
    }

    /// Counts `bytes` transferred of `all` bytes.
    func count(_ bytes: Int64, of all: Int64?) {
        guard let all, all > 0 else { return }
        let fraction = min(1, Double(bytes) / Double(all))
        let isNews = told.withLock { told in
            guard fraction >= told + Self.step || (fraction == 1 && told < 1) else { return false }
            told = fraction
            return true
        }
        if isNews { tell(fraction) }
    }
}

/// The transferred fraction of a record's files.
struct FileProgress: Sendable {
    var recordID: CKRecordID
    /// The part of the record's progress that belongs to the file.
    var begin: Double
    var end: Double

    /// Returns the record's progress at this fraction of the file. Nil for the whole record, which is reported with
    /// the record itself.
    func at(_ fraction: Double) -> FileProgress? {
        let now = begin + (end - begin) * fraction
        return now > 0 && now < 1 ? FileProgress(recordID: recordID, begin: begin, end: now) : nil
    }
}
