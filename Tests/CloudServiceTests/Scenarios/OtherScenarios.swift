/// What the endpoints answer that other parts of the service handle: a line or two each, so that none is forgotten.
/// A status of 0 stands for any.
enum OtherScenarios {
    static let text = #"""
        == a query finds records
        > ada POST private/records/query
        {"query":{"recordType":"todo","filterBy":{"fieldName":"title","comparator":"EQUALS",
        "fieldValue":{"value":"x"}}},"zoneID":{"zoneName":"todos"}}
        < 0
        == nobody queries a private database
        > nobody POST private/records/query
        {"query":{"recordType":"todo"}}
        < 421 | AUTHENTICATION_REQUIRED
        == queries come in batches too
        > ada POST private/internal/records/query/batch
        {"batch":[{"query":{"recordType":"todo"},"zoneID":{"zoneName":"todos"}}]}
        < 0
        == files get an address to be uploaded to
        > ada POST private/assets/upload
        {"tokens":[{"recordType":"todo","fieldName":"file","recordName":"x"}],"zoneID":{"zoneName":"todos"}}
        < 0
        == nobody uploads
        > nobody POST public/assets/upload
        {"tokens":[]}
        < 421 | AUTHENTICATION_REQUIRED
        == files are referred to again
        > ada POST private/assets/rereference
        {"assets":[{"recordName":"a","fieldName":"file"}],"zoneID":{"zoneName":"todos"}}
        < 0
        == notifications are collected
        > ada POST device/notifications/list
        {}
        < 0
        == nobody has some
        > nobody POST device/notifications/list
        {}
        < 421 | AUTHENTICATION_REQUIRED
        == and are marked as read
        > ada POST device/notifications/read
        {"notificationIDs":[]}
        < 0
        """#
}
