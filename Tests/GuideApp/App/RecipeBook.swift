import CloudKit
import Foundation

/// One recipe on this device, and its way to and from the cloud.
final class RecipeBook: RecipeCloudDelegate, @unchecked Sendable {
    private struct State {
        var record: CKRecord?
        var recipe: Recipe?
    }

    let cloud: RecipeCloud
    private let name: String
    private let folder: URL
    private let lock = NSLock()
    private var state = State()
    /// Called when another device's recipe is the one that is shown from now on.
    var changed: (@Sendable (Recipe) -> Void)?

    var recipe: Recipe? { lock.withLock { state.recipe } }

    init(cloud: RecipeCloud, name: String, folder: URL) {
        self.cloud = cloud
        self.name = name
        self.folder = folder
        cloud.delegate = self
    }

    func load(completion: @escaping @Sendable (Recipe?, Error?) -> Void) {
        cloud.load(name) { record, error in
            if let problem = error as? CKError, problem.isMissing { return completion(nil, nil) }
            guard let record = record else { return completion(nil, error) }
            do {
                completion(try self.adopt(record), nil)
            } catch {
                completion(nil, error)
            }
        }
    }

    func save(_ recipe: Recipe, completion: @escaping @Sendable (Error?) -> Void) {
        guard let record = lock.withLock({ state.record }) else {
            // It may be in the cloud already, from another device.
            return cloud.load(name) { record, error in
                if let error = error, (error as? CKError)?.isMissing != true { return completion(error) }
                let recordID = CKRecordID(recordName: self.name, zoneID: self.cloud.zoneID)
                let start = record ?? CKRecord(recordType: Recipe.recordType, recordID: recordID)
                self.lock.withLock { self.state.record = start }
                self.save(recipe, completion: completion)
            }
        }
        let file = folder.appendingPathComponent(NSUUID().uuidString)
        do {
            try recipe.write(into: record, file: file)
        } catch {
            return completion(error)
        }
        push(record, recipe) { error in
            try? FileManager.default.removeItem(at: file)
            completion(error)
        }
    }

    /// Saves until nobody else was faster: of two recipes the one that was cooked later stands.
    private func push(_ record: CKRecord, _ recipe: Recipe, completion: @escaping @Sendable (Error?) -> Void)
    {
        cloud.store(record) { error in
            guard let error = error else {
                self.lock.withLock { self.state = State(record: record, recipe: recipe) }
                return completion(nil)
            }
            guard let conflict = (error as? CKError)?.conflict else { return completion(error) }
            let ours = conflict.mine["cookedAt"] as? Date ?? .distantPast
            let theirs = conflict.theirs["cookedAt"] as? Date ?? .distantPast
            guard ours.compare(theirs) == .orderedDescending else { return self.yield(completion) }
            for key in conflict.mine.allKeys() { conflict.theirs[key] = conflict.mine[key] }
            self.push(conflict.theirs, recipe, completion: completion)
        }
    }

    /// Takes the cloud's recipe; its text is a file, so it is fetched.
    private func yield(_ completion: @escaping @Sendable (Error?) -> Void) {
        cloud.load(name) { record, error in
            guard let record = record else { return completion(error) }
            self.recipeChanged(record)
            completion(nil)
        }
    }

    @discardableResult
    private func adopt(_ record: CKRecord) throws -> Recipe {
        let recipe = try Recipe(record: record)
        lock.withLock { state = State(record: record, recipe: recipe) }
        return recipe
    }

    // MARK: RecipeCloudDelegate

    func recipeChanged(_ record: CKRecord) {
        guard record.recordID.recordName == name, let recipe = try? adopt(record) else { return }
        changed?(recipe)
    }

    func recipeDeleted(_ recordID: CKRecordID) {
        guard recordID.recordName == name else { return }
        lock.withLock { state = State() }
    }
}
