internal import CloudWire
import Foundation

/// The folder beside the database with copies of the files in queued changes.
///
/// The tables store the name of a copy without its folder, because a database can be moved. In memory, a copy
/// has a path like any other file.
struct AssetFolder {
    let path: String

    init(database: String, registeredName: String) {
        let path = SyncProcessLock.path(database: database, registeredName: registeredName, suffix: "assets")
        // In the form of a file's URL, by which a copy is recognized.
        self.path = path.hasPrefix("/") ? path : URL(fileURLWithPath: path, isDirectory: false).path
    }

    private static let scheme = "staged:"

    func file(_ name: String) -> String { path + "/" + name }

    /// Returns the name of a copy, or nil for a file in another folder.
    func name(of asset: Asset) -> String? {
        guard let file = asset.fileURL?.path, file.hasPrefix(path + "/") else { return nil }
        let name = String(file.dropFirst(path.count + 1))
        return name.isEmpty || name.contains("/") ? nil : name
    }

    /// Returns a copy as a value.
    func asset(_ name: String) -> Asset {
        Asset(downloadURL: URL(fileURLWithPath: file(name), isDirectory: false).absoluteString)
    }

    // MARK: In the tables

    /// Converts fields to their stored form.
    func stored(_ fields: [String: Field]) -> [String: Field] {
        fields.mappingAssets { asset in name(of: asset).map { Asset(downloadURL: Self.scheme + $0) } }
    }

    /// Converts fields from their stored form.
    func read(_ fields: [String: Field]) -> [String: Field] {
        fields.mappingAssets { stored in
            guard let text = stored.downloadURL, text.hasPrefix(Self.scheme) else { return nil }
            let name = String(text.dropFirst(Self.scheme.count))
            return name.contains("/") ? nil : asset(name)
        }
    }

    /// Returns the names of the copies in fields.
    func names(in fields: [String: Field]) -> [String] {
        var names: [String] = []
        for asset in fields.assets { if let name = name(of: asset) { names.append(name) } }
        return names.sorted()
    }
}

extension Field {
    /// True if it has the path of a file.
    var isCopyOfFile: Bool { ["": self].assets.contains { $0.fileURL != nil && CloudFile($0) == nil } }
}

extension [String: Field] {
    var hasAssets: Bool { values.contains { $0.value?.hasAsset ?? false } }

    /// The assets in the values.
    var assets: [Asset] {
        var assets: [Asset] = []
        for field in values {
            switch field.value {
            case .asset(let asset): assets.append(asset)
            case .list(.assetList, let elements):
                for case .asset(let asset) in elements { assets.append(asset) }
            default: break
            }
        }
        return assets
    }

    /// Returns the fields with each asset replaced by the result of `change`. If that is nil, the asset
    /// stays.
    func mappingAssets(_ change: (Asset) throws -> Asset?) rethrows -> [String: Field] {
        // Fields rarely have assets.
        guard hasAssets else { return self }
        var fields = self
        for (key, field) in self {
            switch field.value {
            case .asset(let asset):
                if let other = try change(asset) { fields[key]?.value = .asset(other) }
            case .list(.assetList, let elements):
                fields[key]?.value = .list(
                    .assetList,
                    try elements.map { element in
                        guard case .asset(let asset) = element, let other = try change(asset) else {
                            return element
                        }
                        return .asset(other)
                    })
            default: break
            }
        }
        return fields
    }
}

extension FieldValue {
    fileprivate var hasAsset: Bool {
        switch self {
        case .asset, .list(.assetList, _): true
        default: false
        }
    }
}
