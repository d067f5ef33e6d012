internal import CloudKit
import Foundation

// Properties with files. Their type is optional or a list, because a record's field may have no value.

extension CloudFieldsBuilder {
    /// Adds a property with a file or nil.
    ///
    /// - Parameters:
    ///   - keyPath: Property that has the value.
    ///   - name: Name of the field in the cloud; nil takes the property's name.
    ///   - fetched: When this device fetches the bytes of files that other devices added.
    @discardableResult
    public func field(
        _ keyPath: any WritableKeyPath<Model, CloudFile?> & Sendable, as name: String? = nil,
        fetched: CloudFile.Fetching = .withObject
    ) -> CloudFieldDraft<Model, CloudFile?> {
        let draft = field(
            keyPath, as: name, toCloud: { $0?.asset },
            fromCloud: { value -> CloudFile?? in
                guard let value else { return .some(nil) }
                return (value as? CKAsset).flatMap { CloudFile($0) }.map { .some($0) }
            })
        draft.files = fetched
        return draft
    }

    /// Adds a property with a list of files.
    ///
    /// - Parameters:
    ///   - keyPath: Property that has the value.
    ///   - name: Name of the field in the cloud; nil takes the property's name.
    ///   - fetched: When this device fetches the bytes of files that other devices added.
    @discardableResult
    public func field(
        _ keyPath: any WritableKeyPath<Model, [CloudFile]> & Sendable, as name: String? = nil,
        fetched: CloudFile.Fetching = .withObject
    ) -> CloudFieldDraft<Model, [CloudFile]> {
        let draft = field(
            keyPath, as: name, toCloud: { $0.isEmpty ? nil : $0.compactMap(\.asset) },
            fromCloud: { value -> [CloudFile]? in
                guard let value else { return [] }
                guard let assets = value as? [CKAsset] else { return nil }
                let files = assets.compactMap { CloudFile($0) }
                return files.count == assets.count ? files : nil
            })
        draft.files = fetched
        return draft
    }
}
