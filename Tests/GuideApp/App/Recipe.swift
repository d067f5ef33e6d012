import CloudKit
import Foundation

/// Why a recipe can't be shown or saved.
enum RecipeError: Error {
    /// The record isn't one that any version of the app wrote.
    case unreadable
    /// A newer version of the app wrote it.
    case appIsTooOld
}

/// A recipe, as the app's screens know it.
struct Recipe: Equatable {
    /// The version of the app's records; raised when older apps must not touch them.
    static let format = 3
    static let recordType = "recipe"

    var title: String
    /// How to cook it: as long as it likes, so it travels as a file.
    var method: String
    var cookedAt: Date

    init(title: String, method: String, cookedAt: Date) {
        self.title = title
        self.method = method
        self.cookedAt = cookedAt
    }

    /// Reads what is in the cloud.
    init(record: CKRecord) throws {
        guard let format = record["format"] as? NSNumber else { throw RecipeError.unreadable }
        guard format.intValue <= Recipe.format else { throw RecipeError.appIsTooOld }
        guard let asset = record["method"] as? CKAsset, let url = asset.fileURL else {
            throw RecipeError.unreadable
        }
        method = try String(contentsOf: url, encoding: .utf8)
        title = record["title"] as? String ?? ""
        cookedAt = record["cookedAt"] as? Date ?? .distantPast
    }

    /// Writes it into `record`; the text lies in `file` until the record is saved.
    func write(into record: CKRecord, file: URL) throws {
        try method.write(to: file, atomically: true, encoding: .utf8)
        record["format"] = NSNumber(value: Recipe.format)
        record["title"] = title as CKRecordValue
        record["cookedAt"] = cookedAt as NSDate
        record["method"] = CKAsset(fileURL: file)
    }
}
