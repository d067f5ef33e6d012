import Foundation
internal import System

/// Counts the bytes of a file on its way, and says so each time another hundredth is there. A transfer that begins anew
/// is told of when it is farther than the one before.
final class ProgressMeter: Sendable {
    /// The step in which it is told.
    private static let step = 0.01

    private let told = Lock(0.0)
    private let tell: @Sendable (Double) -> Void

    init(_ tell: @escaping @Sendable (Double) -> Void) {
        self.tell = tell
    }

    /// So many bytes of all are there.
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

/// How much of a record's files is there.
struct FileProgress: Sendable {
    var recordID: CKRecordID
    /// Which part of all that the record needs the file begins and ends with.
    var begin: Double
    var end: Double

    /// The record's fraction when so much of the file is there. Nil for all of it, which is told when the record
    /// itself is there.
    func at(_ fraction: Double) -> FileProgress? {
        let now = begin + (end - begin) * fraction
        return now > 0 && now < 1 ? FileProgress(recordID: recordID, begin: begin, end: now) : nil
    }
}
