internal import CloudWire
import Foundation

/// Where the copies lie of the files that the queue speaks of: a folder beside the database.
///
/// The tables name a copy without its folder, because a database can be moved; in memory it is a file as any other.
struct AssetFolder {
    let path: String

    init(database: String, registeredName: String) {
        let path = SyncProcessLock.path(database: database, registeredName: registeredName, suffix: "assets")
        // As a file's URL says it, by which a copy is known.
        self.path = path.hasPrefix("/") ? path : URL(fileURLWithPath: path, isDirectory: false).path
    }

    private static let scheme = "staged:"

    func file(_ name: String) -> String { path + "/" + name }

    /// The name of a copy; nil for a file that lies elsewhere.
    func name(of asset: Asset) -> String? {
        guard let file = asset.fileURL?.path, file.hasPrefix(path + "/") else { return nil }
        let name = String(file.dropFirst(path.count + 1))
        return name.isEmpty || name.contains("/") ? nil : name
    }

    /// A copy as a value.
    func asset(_ name: String) -> Asset {
        Asset(downloadURL: URL(fileURLWithPath: file(name), isDirectory: false).absoluteString)
    }

    // MARK: In the tables

    /// Fields as they are stored.
    func stored(_ fields: [String: Field]) -> [String: Field] {
        fields.mappingAssets { asset in name(of: asset).map { Asset(downloadURL: Self.scheme + $0) } }
    }

    /// Fields that were stored.
    func read(_ fields: [String: Field]) -> [String: Field] {
        fields.mappingAssets { stored in
            guard let text = stored.downloadURL, text.hasPrefix(Self.scheme) else { return nil }
            let name = String(text.dropFirst(Self.scheme.count))
            return name.contains("/") ? nil : asset(name)
        }
    }

    /// The copies that fields name.
    func names(in fields: [String: Field]) -> [String] {
        var names: [String] = []
        for asset in fields.assets { if let name = name(of: asset) { names.append(name) } }
        return names.sorted()
    }
}

extension Field {
    /// Whether it holds the path of a file.
    var isCopyOfFile: Bool { ["": self].assets.contains { $0.fileURL != nil && CloudFile($0) == nil } }
}

extension [String: Field] {
    var hasAssets: Bool { values.contains { $0.value?.hasAsset ?? false } }

    /// The assets among the values.
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

    /// The fields with other assets; where `change` gives none, the asset stays.
    func mappingAssets(_ change: (Asset) throws -> Asset?) rethrows -> [String: Field] {
        // Nearly always there is none.
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
