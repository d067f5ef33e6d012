internal import CloudKit
internal import CloudWire
import Foundation
internal import Yap

/// What is done with a file of a fetched record.
enum FileHandling: Sendable {
    /// It is fetched. If that fails, the record isn't fetched.
    case required
    /// It is fetched. If the server can't send it, the record comes without it.
    case optional
    /// It isn't fetched.
    case left
}

/// Decides what is done with a file of a fetched record.
typealias FileHandlingRule =
    @Sendable (_ recordID: CKRecord.ID, _ recordType: String, _ key: String, _ asset: CKAsset) -> FileHandling

/// The files of fetched records.
extension CloudSyncMap {
    func handling(_ recordID: CKRecord.ID, _ recordType: String, _ key: String) -> FileHandling {
        // A later version of the app may know the type, and fetches the record again then.
        guard let model = model(ofType: recordType, in: recordID.zoneID) else { return .optional }
        guard let fetching = model.files[key] else {
            return model.fieldNames.contains(key) ? .required : .left
        }
        return fetching == .withObject ? .optional : .left
    }

    /// Brings the files of a record into the folder, and makes `CloudFile`s of them in the record.
    ///
    /// A file that wasn't fetched becomes a value without bytes on this device, if the server reports its checksum.
    /// - Throws: `AssetFileError.notWritten` when the disk is full.
    func takeFiles(of record: CKRecord, into folder: FileFolder) throws {
        // A record of an unknown type is kept for a later version of the app, with all its files.
        let names = model(of: record).map { Array($0.files.keys) } ?? record.allKeys()
        try takeFiles(of: record, names, into: folder)
    }

    func takeFiles(of record: CKRecord, _ names: [String], into folder: FileFolder) throws {
        for name in names {
            let assets = record.assets(forKey: name)
            let files = try assets.compactMap { try take($0, into: folder)?.asset }
            if files.count == assets.count { record.replaceAssets(with: files, forKey: name) }
        }
    }

    /// The fields of all models that hold `CloudFile`s.
    var fileFields: [String] { Set(models.flatMap(\.files.keys)).sorted() }

    private func take(_ asset: CKAsset, into folder: FileFolder) throws -> CloudFile? {
        if let file = CloudFile(asset) { return file }
        let known = asset.knownFile
        if let known, try folder.touch(known) { return known }
        guard let url = asset.fileURL, url.isFileURL else { return known }
        do {
            return try folder.add(copyOf: url.path)
        } catch AssetFileError.unreadable {
            // The framework's cache was emptied meanwhile.
            return known
        }
    }
}

extension CKRecord {
    /// Returns the asset of a field, or those of a list.
    func assets(forKey key: String) -> [CKAsset] {
        let value = object(forKey: key)
        return (value as? CKAsset).map { [$0] } ?? value as? [CKAsset] ?? []
    }

    /// Sets a field to other assets: a list where it has one.
    func replaceAssets(with assets: [CKAsset], forKey key: String) {
        guard let first = assets.first else { return }
        if object(forKey: key) is CKAsset {
            setObject(first, forKey: key)
        } else {
            setObject(assets as NSArray, forKey: key)
        }
    }

    /// Whether it has an asset without a file on this device.
    var lacksFiles: Bool {
        allKeys().contains { assets(forKey: $0).contains { $0.fileURL == nil } }
    }
}

extension YapDatabaseCloudKitTransaction {
    /// Gives a record that was kept for its type the paths of its files, of fields that don't hold `CloudFile`s.
    func setPaths(of record: CKRecord, except names: Set<String>) {
        for name in record.allKeys() where !names.contains(name) {
            let files = record.assets(forKey: name).compactMap { CloudFile($0) }
            let present = files.filter { tables.files.contain($0) }.map {
                CKAsset(fileURL: tables.files.url(of: $0))
            }
            if present.count == files.count {
                record.replaceAssets(with: present, forKey: name)
            } else {
                record.setObject(nil, forKey: name)
            }
        }
    }
}
