/// Registration of one collection: the coder of its objects, and of its metadata if it has any.
struct CollectionRegistration: Sendable {
    let collection: String
    var object: any ValueCoder
    var metadata: (any ValueCoder)?
}
