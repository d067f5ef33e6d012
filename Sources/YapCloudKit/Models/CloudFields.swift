public import CloudKit
internal import CloudWire
import Foundation

/// The properties of a model that are fields of its record, the fields' names, and the merge rules of two changes.
///
/// ```swift
/// static let fields = CloudFields<Todo> {
///     $0.field(\.title)
///     $0.field(\.isDone, as: "completed")
///     $0.field(\.priority).merged { base, local, remote in max(local, remote) }
/// }
/// ```
/// Properties that aren't listed stay on the device. Without `merged`, the remote change of a field wins over the local
/// one.
public struct CloudFields<Model: Sendable>: Sendable {
    /// One field: how to read, write and merge it.
    struct Entry: Sendable {
        let name: String
        let read: @Sendable (Model) throws -> Field
        /// Writes a value. If another device removed it and the property can't be nil, the property takes its default.
        /// A value of another type leaves the property unchanged.
        let write: @Sendable (_ model: inout Model, _ field: Field?, _ defaults: Model) -> Void
        /// Whether the property can hold the value.
        let canRead: @Sendable (_ field: Field) -> Bool
        let merge: (@Sendable (_ base: Field?, _ local: Field, _ remote: Field?) throws -> MergedField)?
        /// Whether two equal changes count twice, as of a counter.
        let isSum: Bool
        /// When the files of a property of `CloudFile`s are fetched. Nil for other properties.
        let files: CloudFile.Fetching?
    }

    /// Ordered by name.
    let entries: [Entry]

    /// Builds a map. It ends the program if a name can't be derived from the key path, isn't valid for a field, or is
    /// used twice. A debug build prints what to write instead.
    public init(_ build: (CloudFieldsBuilder<Model>) -> Void) {
        let builder = CloudFieldsBuilder<Model>()
        build(builder)
        entries = builder.drafts.map { $0.entry() }.sorted { $0.name < $1.name }
        let names = entries.map(\.name)
        let twice = zip(names, names.dropFirst()).first { $0 == $1 }?.0
        precondition(
            twice == nil,
            "\"\(twice ?? "")\" occurs twice in the fields of \(Model.self): give one of them another name with as:"
        )
        for name in names {
            let problem = FieldNames.problem(of: name)
            precondition(
                problem == nil,
                "the field \"\(name)\" of \(Model.self) \(problem ?? ""): give it another name with as:")
        }
        precondition(!names.isEmpty, "\(Model.self) has no fields: add one with $0.field(\\.property)")
    }

    /// Returns all fields of an object. A field without a value is cleared.
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
    /// - Parameters:
    ///   - keyPath: Property that has the value.
    ///   - name: Name of the field in the cloud; nil takes the property's name.
    @discardableResult
    public func field<Value: CloudFieldValue>(
        _ keyPath: any WritableKeyPath<Model, Value> & Sendable, as name: String? = nil
    ) -> CloudFieldDraft<Model, Value> {
        let draft = field(
            keyPath, as: name, toCloud: { $0.cloudValue }, fromCloud: { Value(cloudValue: $0) })
        draft.plain = PlainFieldCodec()
        return draft
    }

    /// Adds a property that has another type in the cloud.
    ///
    /// - Parameters:
    ///   - keyPath: Property that has the value.
    ///   - name: Name of the field in the cloud; nil takes the property's name.
    ///   - toCloud: Returns the value for a record, or nil for no value.
    ///   - fromCloud: Returns the value of a record's value, or nil if that isn't valid. Then the property keeps its
    ///     value, or takes its default if another device removed the value.
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

    /// Returns the last name of a key path. Computed properties, property wrappers and properties without size have
    /// none.
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

/// A field that is being added. Call `merged` to set its merge rule.
public final class CloudFieldDraft<Model: Sendable, Value: Equatable & Sendable> {
    private let name: String
    private let keyPath: any WritableKeyPath<Model, Value> & Sendable
    private let toCloud: @Sendable (Value) -> (any CKRecordValueProtocol)?
    private let fromCloud: @Sendable ((any CKRecordValueProtocol)?) -> Value?
    private var merge: (@Sendable (Value?, Value, Value) -> Value)?
    /// Whether two equal changes count twice.
    var isSum = false
    /// Whether the result of `merge` has the changes of both sides.
    private var isCombining = false
    /// The fast path, for types that are stored as they are.
    fileprivate var plain: PlainFieldCodec<Value>?
    /// When the files of a property of `CloudFile`s are fetched.
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

    /// Sets the rule that merges a change on this device and a change on another device. It must return the same value
    /// on every device, so it must depend on its three arguments only.
    ///
    /// - Parameter merge: Returns the merged value. `base` is the value before both changes, or nil if it isn't known.
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

/// Captures the field in closures, so that reading and writing millions of values needs no existential.
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
            // A file that isn't on this device still counts as a value.
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
