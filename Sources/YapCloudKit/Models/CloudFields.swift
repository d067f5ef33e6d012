public import CloudKit
internal import CloudWire
import Foundation

/// Which properties of a model are fields of its record, under which names, and how two changes of one are
/// merged.
///
/// ```swift
/// static let fields = CloudFields<Todo> {
///     $0.field(\.title)
///     $0.field(\.isDone, as: "completed")
///     $0.field(\.priority).merged { base, local, remote in max(local, remote) }
/// }
/// ```
/// What is not listed stays on the device. Without `merged`, of two changes of one field the remote one wins.
public struct CloudFields<Model: Sendable>: Sendable {
    /// One field, with what it takes to read, write and merge it.
    struct Entry: Sendable {
        let name: String
        let read: @Sendable (Model) throws -> Field
        /// Takes over a value. One that another device removed is the property's default, if it can't be nil; one of
        /// another type leaves the property as it is.
        let write: @Sendable (_ model: inout Model, _ field: Field?, _ defaults: Model) -> Void
        /// Whether the property can hold the value.
        let canRead: @Sendable (_ field: Field) -> Bool
        let merge: (@Sendable (_ base: Field?, _ local: Field, _ remote: Field?) throws -> MergedField)?
        /// Whether two equal changes are two, as of a counter.
        let isSum: Bool
        /// When the files are fetched, of a property that holds `CloudFile`s. Nil for other properties.
        let files: CloudFile.Fetching?
    }

    /// In the order of their names.
    let entries: [Entry]

    /// Builds a map. A mistake in it (a name that can't be taken from the key path, that no field can have, or that
    /// stands twice) ends the program when the map is built; a debug build says what to write instead.
    public init(_ build: (CloudFieldsBuilder<Model>) -> Void) {
        let builder = CloudFieldsBuilder<Model>()
        build(builder)
        entries = builder.drafts.map { $0.entry() }.sorted { $0.name < $1.name }
        let names = entries.map(\.name)
        let twice = zip(names, names.dropFirst()).first { $0 == $1 }?.0
        precondition(
            twice == nil,
            "\"\(twice ?? "")\" stands twice in the fields of \(Model.self): give one of them another name with as:"
        )
        for name in names {
            let problem = FieldNames.problem(of: name)
            precondition(
                problem == nil,
                "the field \"\(name)\" of \(Model.self) \(problem ?? ""): give it another name with as:")
        }
        precondition(!names.isEmpty, "\(Model.self) has no fields: add one with $0.field(\\.property)")
    }

    /// All fields of an object; one without value is cleared.
    func fields(of object: Model) throws -> [String: Field] {
        var fields: [String: Field] = [:]
        for entry in entries {
            do {
                fields[entry.name] = try entry.read(object)
            } catch let error as CKError {
                throw CKError.saying(
                    error.code, "\(Model.self), field \"\(entry.name)\": \(error.localizedDescription)")
            }
        }
        return fields
    }
}

/// Collects the fields of a map.
public final class CloudFieldsBuilder<Model: Sendable> {
    fileprivate var drafts: [any CloudFieldDraftProtocol<Model>] = []

    /// Adds a property.
    ///
    /// - Parameter name: The field's name in the cloud; nil is the property's own.
    @discardableResult
    public func field<Value: CloudFieldValue>(
        _ keyPath: any WritableKeyPath<Model, Value> & Sendable, as name: String? = nil
    ) -> CloudFieldDraft<Model, Value> {
        let draft = field(
            keyPath, as: name, toCloud: { $0.cloudValue }, fromCloud: { Value(cloudValue: $0) })
        draft.plain = PlainFieldCodec()
        return draft
    }

    /// Adds a property that is another type in the cloud.
    ///
    /// - Parameters:
    ///   - name: The field's name in the cloud; nil is the property's own.
    ///   - toCloud: The value as a record holds it; nil for none.
    ///   - fromCloud: The value that a record holds; nil for what is none of it. Then the property stays as it is, or
    ///     takes its default when another device removed the value.
    @discardableResult
    public func field<Value: Equatable & Sendable>(
        _ keyPath: any WritableKeyPath<Model, Value> & Sendable, as name: String? = nil,
        toCloud: @escaping @Sendable (Value) -> (any CKRecordValueProtocol)?,
        fromCloud: @escaping @Sendable ((any CKRecordValueProtocol)?) -> Value?
    ) -> CloudFieldDraft<Model, Value> {
        let draft = CloudFieldDraft(
            name: name ?? Self.name(of: keyPath), keyPath: keyPath, toCloud: toCloud, fromCloud: fromCloud)
        drafts.append(draft)
        return draft
    }

    /// The name that a key path ends in. It can't be had for computed properties, wrappers and properties of
    /// no size.
    private static func name<Value>(of keyPath: WritableKeyPath<Model, Value>) -> String {
        let text = String(reflecting: keyPath)
        let prefix = "\\" + String(describing: Model.self).split(separator: ".").suffix(1).joined() + "."
        let name = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : ""
        let isIdentifier = name.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) || $0 == UInt8(ascii: "_")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        precondition(
            !name.isEmpty && isIdentifier && MemoryLayout<Value>.size > 0,
            "the field's name can't be taken from \(text): give it a name with as:")
        return name
    }
}

/// A field that is being added: say `merged` on it to merge its changes.
public final class CloudFieldDraft<Model: Sendable, Value: Equatable & Sendable> {
    private let name: String
    private let keyPath: any WritableKeyPath<Model, Value> & Sendable
    private let toCloud: @Sendable (Value) -> (any CKRecordValueProtocol)?
    private let fromCloud: @Sendable ((any CKRecordValueProtocol)?) -> Value?
    private var merge: (@Sendable (Value?, Value, Value) -> Value)?
    /// Whether two equal changes are two.
    var isSum = false
    /// Whether what `merge` returns has the changes of both sides.
    private var isCombining = false
    /// The short way, for a type whose values are fields as they are.
    fileprivate var plain: PlainFieldCodec<Value>?
    /// When the files are fetched, of a property that holds `CloudFile`s.
    var files: CloudFile.Fetching?

    fileprivate init(
        name: String, keyPath: any WritableKeyPath<Model, Value> & Sendable,
        toCloud: @escaping @Sendable (Value) -> (any CKRecordValueProtocol)?,
        fromCloud: @escaping @Sendable ((any CKRecordValueProtocol)?) -> Value?
    ) {
        self.name = name
        self.keyPath = keyPath
        self.toCloud = toCloud
        self.fromCloud = fromCloud
    }

    /// Says how a change here and a change on another device become one value. It must give the same on every
    /// device: a function of its three arguments, and nothing else.
    ///
    /// - Parameter merge: `base` is the value before both changes, nil when it isn't known.
    public func merged(
        _ merge: @escaping @Sendable (_ base: Value?, _ local: Value, _ remote: Value) -> Value
    ) {
        self.merge = merge
        isCombining = false
    }

    /// Sets a merge rule that keeps the changes of both sides.
    func combined(_ merge: @escaping @Sendable (_ base: Value?, _ local: Value, _ remote: Value) -> Value) {
        merged(merge)
        isCombining = true
    }
}

private protocol CloudFieldDraftProtocol<Model> {
    associatedtype Model: Sendable
    func entry() -> CloudFields<Model>.Entry
}

/// Freezes into closures: what is read and written millions of times has no type of its own.
extension CloudFieldDraft: CloudFieldDraftProtocol {
    fileprivate func entry() -> CloudFields<Model>.Entry {
        let (keyPath, toCloud, fromCloud, name) = (keyPath, toCloud, fromCloud, name)
        let (plain, files) = (plain, files)
        let isCombining = isCombining
        let encode: @Sendable (Value) throws -> Field = { value in
            if let plain { return try plain.encode(value).map { Field($0) } ?? .cleared }
            guard let cloudValue = toCloud(value) else { return .cleared }
            return try Field(cloudValue: cloudValue, in: .default)
        }
        let decode: @Sendable (Field?) -> Value? = { field in
            if let plain, let value = field?.value, let known = plain.decode(value) { return known }
            guard let value = field?.value else { return fromCloud(nil) }
            // A file that isn't on this device is no missing value.
            return value.cloudObject(in: .default).flatMap { fromCloud($0) }
        }
        var mergeFields: (@Sendable (Field?, Field, Field?) throws -> MergedField)?
        if let merge {
            mergeFields = { base, local, remote in
                guard let localValue = decode(local), let remoteValue = decode(remote) else {
                    return MergedField(field: remote ?? .cleared)
                }
                let merged = try encode(merge(base.flatMap { decode($0) }, localValue, remoteValue))
                return MergedField(field: merged, isCombined: isCombining)
            }
        }
        return CloudFields<Model>.Entry(
            name: name, read: { try encode($0[keyPath: keyPath]) },
            write: { model, field, defaults in
                if let value = decode(field) {
                    model[keyPath: keyPath] = value
                } else if field?.value == nil {
                    model[keyPath: keyPath] = defaults[keyPath: keyPath]
                }
            },
            canRead: { decode($0) != nil }, merge: mergeFields, isSum: isSum, files: files)
    }
}
