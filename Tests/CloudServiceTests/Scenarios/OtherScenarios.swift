/// What queries, files and notifications are answered with.
enum OtherScenarios {
    static let text = queries + files + notifications

    private static let queries = #"""
        == a query finds records, by a single filter too
        > ada POST private/records/query
        {"query":{"recordType":"todo","filterBy":{"fieldName":"title","comparator":"EQUALS",
        "fieldValue":{"value":"x"}}},"zoneID":{"zoneName":"todos"}}
        < 200 | {"records":[{"recordName":"a","recordType":"todo" | "title":{"value":"x","type":"STRING"}
        | "zoneID":{"zoneName":"todos","ownerRecordName":"_ada" | !"recordName":"child" | !continuationMarker
        | !syncToken | !serverErrorCode
        == a query that finds nothing has an empty list
        > ada POST private/records/query
        {"query":{"recordType":"todo","filterBy":[{"fieldName":"title","comparator":"EQUALS",
        "fieldValue":{"value":"y"}}]},"zoneID":{"zoneName":"todos"}}
        < 200 | {"records":[]} | !continuationMarker
        == without a zone it is the default one
        > ada POST private/records/query
        {"query":{"recordType":"todo"}}
        < 200 | "recordName":"d" | "zoneName":"_defaultZone" | !"recordName":"a" | !"recordName":"o"
        == zoneWide looks into all
        > ada POST private/records/query
        {"query":{"recordType":"todo"},"zoneWide":true}
        < 200 | "recordName":"d" | "recordName":"a" | "recordName":"o"
        == a page ends at resultsLimit, and its marker leads on
        > ada POST private/records/query
        {"query":{"recordType":"todo","sortBy":[{"fieldName":"n","ascending":false}]},
        "zoneID":{"zoneName":"todos"},"resultsLimit":1,"desiredKeys":["none"]}
        < 200 | {"records":[{"recordName":"a" | "fields":{} | "continuationMarker":" | !"recordName":"list"
        == numbers come as texts where it is asked for, and the zone's token
        > ada POST private/records/query?getCurrentSyncToken=true
        {"query":{"recordType":"todo","filterBy":[{"fieldName":"n","comparator":"LESS_THAN",
        "fieldValue":{"value":2,"type":"INT64"}}]},"zoneID":{"zoneName":"todos"},"numbersAsStrings":true}
        < 200 | "recordName":"a" | "n":{"value":"1","type":"INT64"} | "syncToken":"
        == a field without an index is refused by its name
        @ nobody looks for titles
        > ada POST private/records/query
        {"query":{"recordType":"todo","filterBy":[{"fieldName":"title","comparator":"EQUALS",
        "fieldValue":{"value":"x"}}]},"zoneID":{"zoneName":"todos"}}
        < 400 | "serverErrorCode":"BAD_REQUEST" | Field 'title' is not marked queryable | "uuid" | !"records"
        == and none that sorts
        @ nobody looks for titles
        > ada POST private/records/query
        {"query":{"recordType":"todo","sortBy":[{"fieldName":"title"}]},"zoneID":{"zoneName":"todos"}}
        < 400 | "serverErrorCode":"BAD_REQUEST" | Field 'title' is not marked sortable
        == a type that nobody knows is refused by its name
        > ada POST private/records/query
        {"query":{"recordType":"unknown"},"zoneID":{"zoneName":"todos"}}
        < 404 | "serverErrorCode":"NOT_FOUND" | Did not find record type: unknown
        == a comparator that nobody knows is refused
        > ada POST private/records/query
        {"query":{"recordType":"todo","filterBy":[{"fieldName":"title","comparator":"LIKE",
        "fieldValue":{"value":"x"}}]},"zoneID":{"zoneName":"todos"}}
        < 400 | "serverErrorCode":"BAD_REQUEST" | LIKE
        == a marker of nobody's is refused
        > ada POST private/records/query
        {"query":{"recordType":"todo"},"zoneID":{"zoneName":"todos"},"continuationMarker":"AAAA"}
        < 400 | "serverErrorCode":"BAD_REQUEST" | continuationMarker
        == a zone that isn't there is an error as a whole
        > ada POST private/records/query
        {"query":{"recordType":"todo"},"zoneID":{"zoneName":"none"}}
        < 404 | "serverErrorCode":"ZONE_NOT_FOUND"
        == another user's is not there
        > bob POST private/records/query
        {"query":{"recordType":"todo"},"zoneID":{"zoneName":"todos","ownerRecordName":"_ada"}}
        < 404 | "serverErrorCode":"ZONE_NOT_FOUND" | !"records"
        == the world queries what it may read
        > nobody POST public/records/query
        {"query":{"recordType":"news"}}
        < 200 | "recordName":"news1" | !serverErrorCode
        == and nothing else
        > nobody POST public/records/query
        {"query":{"recordType":"secret"}}
        < 403 | "serverErrorCode":"ACCESS_DENIED" | !secret1 | !"records"
        == nor does who lacks the role
        > bob POST public/records/query
        {"query":{"recordType":"secret"}}
        < 403 | "serverErrorCode":"ACCESS_DENIED" | !secret1
        == who has it does
        > carol POST public/records/query
        {"query":{"recordType":"secret"}}
        < 200 | "recordName":"secret1" | !serverErrorCode
        == a token that isn't one queries nothing
        > mallory POST public/records/query
        {"query":{"recordType":"news"}}
        < 401 | "serverErrorCode":"AUTHENTICATION_FAILED" | !"records"
        == nobody queries a private database
        > nobody POST private/records/query
        {"query":{"recordType":"todo"}}
        < 421 | "serverErrorCode":"AUTHENTICATION_REQUIRED"
        == a query whose record can't be read fails as a whole
        @ a damaged record
        > ada POST private/records/query
        {"query":{"recordType":"todo"},"zoneID":{"zoneName":"todos"}}
        < 500 | "serverErrorCode":"INTERNAL_ERROR" | "uuid"
        == queries come in batches too
        > ada POST private/internal/records/query/batch
        {"batch":[{"query":{"recordType":"todo","filterBy":{"fieldName":"title","comparator":"IN",
        "fieldValue":{"value":["x"],"type":"STRING_LIST"}}},"zoneID":{"zoneName":"todos"}},
        {"query":{"recordType":"todo"},"zoneID":{"zoneName":"other"}}]}
        < 200 | {"batch":[{"records":[{"recordName":"a" | {"records":[{"recordName":"o" | !"recordName":"list"
        == of which one that is wrong is an error as a whole
        > ada POST private/internal/records/query/batch
        {"batch":[{"query":{"recordType":"todo"},"zoneID":{"zoneName":"none"}}]}
        < 404 | "serverErrorCode":"ZONE_NOT_FOUND" | !"batch"
        == who sends too much is told how long to wait
        @ one request a second
        > ada POST private/records/query
        {"query":{"recordType":"todo"}}
        < 429 | "serverErrorCode":"THROTTLED" | "retryAfter":1 | "uuid" | !"records"
        == and writes nothing
        @ one request a second
        > ada POST private/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"todo"}}]}
        < 429 | "serverErrorCode":"THROTTLED" | "retryAfter":1 | !"records"
        == others have a rate of their own
        @ one request a second
        > bob POST public/records/lookup
        {"records":[{"recordName":"pub"}]}
        < 200 | "recordName":"pub" | !serverErrorCode
        == when the container has too much, everybody waits
        @ one request a second for all
        > bob POST public/records/lookup
        {"records":[{"recordName":"pub"}]}
        < 503 | "serverErrorCode":"TRY_AGAIN_LATER" | "retryAfter":1 | !"records"
        == beyond the quota nothing is saved
        @ a full quota
        > ada POST private/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"todo",
        "fields":{"title":{"value":"long"}}}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"QUOTA_EXCEEDED" | "recordName":"x" | !"fields"
        == but deleted
        @ a full quota
        > ada POST private/records/modify
        {"operations":[{"operationType":"forceDelete","record":{"recordName":"a"}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "recordName":"a" | "deleted":true | !serverErrorCode
        * -todos/a

        """#

    private static let files = #"""
        == files get an address to be uploaded to
        > ada POST private/assets/upload
        {"tokens":[{"recordType":"todo","fieldName":"file","recordName":"x"},{"recordType":"todo",
        "fieldName":"other"}],"zoneID":{"zoneName":"todos"}}
        < 200 | {"tokens":[{"recordName":"x","fieldName":"file",
        | "url":"https://cloud.example.com/asset/1/iCloud.com.example.todo/development/upload?t= | "fieldName":"other"
        | !serverErrorCode
        == a token names its field
        > ada POST private/assets/upload
        {"tokens":[{"recordType":"todo","recordName":"x"}],"zoneID":{"zoneName":"todos"}}
        < 400 | "serverErrorCode":"BAD_REQUEST" | fieldName | !"url"
        == not more tokens than there may be
        @ one operation
        > ada POST private/assets/upload
        {"tokens":[{"recordType":"todo","fieldName":"a"},{"recordType":"todo","fieldName":"b"}]}
        < 400 | "serverErrorCode":"BAD_REQUEST" | the maximum number of items in a single request (1) | !"url"
        == into one's own zones
        > bob POST private/assets/upload
        {"tokens":[{"recordType":"todo","fieldName":"file"}],"zoneID":{"zoneName":"todos","ownerRecordName":"_ada"}}
        < 404 | "serverErrorCode":"ZONE_NOT_FOUND" | !"url"
        == nobody uploads
        > nobody POST public/assets/upload
        {"tokens":[]}
        < 421 | "serverErrorCode":"AUTHENTICATION_REQUIRED"
        == a record is saved with what the upload answered
        @ a file of a record
        > ada POST private/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"todo",
        "fields":{"file":{"value":$receipt()}}}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "recordName":"x" | "type":"ASSETID" | "size":3 | "fileChecksum":" | "wrappingKey" | "referenceChecksum"
        | "downloadURL":"https://cloud.example.com/asset/1/iCloud.com.example.todo/development/file/ | /${f}?t=
        | !"receipt" | !serverErrorCode
        * +todos/x
        == with the record's name that it was for
        @ a file of a record
        > ada POST private/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"y","recordType":"todo",
        "fields":{"file":{"value":$receipt()}}}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"BAD_REQUEST" | field 'file' | !downloadURL
        == by who has uploaded it
        @ a file of a record
        > bob POST public/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"post",
        "fields":{"file":{"value":$receipt()}}}}]}
        < 200 | "serverErrorCode":"BAD_REQUEST" | field 'file' | !downloadURL
        == files are referred to again
        @ a file of a record
        > ada POST private/assets/rereference
        {"assets":[{"recordName":"f","fieldName":"file"},{"recordName":"none","fieldName":"file"},
        {"recordName":"a","fieldName":"title"}],"zoneID":{"zoneName":"todos"}}
        < 200 | {"assets":[{"fileChecksum":" | "receipt":" | "size":3 | "recordName":"none"
        | "serverErrorCode":"NOT_FOUND" | "serverErrorCode":"BAD_REQUEST" | field 'title' holds no file
        == by who may read them
        @ a file of a record
        > bob POST private/assets/rereference
        {"assets":[{"recordName":"f","fieldName":"file"}],"zoneID":{"zoneName":"todos","ownerRecordName":"_ada"}}
        < 404 | "serverErrorCode":"ZONE_NOT_FOUND" | !receipt
        == and nobody else
        > bob POST public/assets/rereference
        {"assets":[{"recordName":"secret1","fieldName":"file"}]}
        < 200 | "serverErrorCode":"NOT_FOUND" | "recordName":"secret1" | !receipt
        == nobody refers to files
        > nobody POST public/assets/rereference
        {"assets":[{"recordName":"pub","fieldName":"file"}]}
        < 421 | "serverErrorCode":"AUTHENTICATION_REQUIRED"

        """#

    private static let notifications = #"""
        == notifications are collected
        @ a notification
        > ada POST device/notifications/list
        {}
        < 200 | {"notifications":[{"notificationID":"$notification()" | "isRead":false | "rid":"told" | "sid":"posts"
        | "moreComing":false | "syncToken":"
        == by GET too
        @ a notification
        > ada GET device/notifications/list
        < 200 | "notificationID":"$notification()"
        == each user's own
        @ a notification
        > bob POST device/notifications/list
        {}
        < 200 | {"notifications":[] | "moreComing":false | !told
        == a page has at least one
        > ada POST device/notifications/list
        {"resultsLimit":0}
        < 400 | "serverErrorCode":"BAD_REQUEST" | resultsLimit
        == nobody has some
        > nobody POST device/notifications/list
        {}
        < 421 | "serverErrorCode":"AUTHENTICATION_REQUIRED"
        == and are marked as read
        @ a notification
        > ada POST device/notifications/read
        {"notificationIDs":["$notification()","none"]}
        < 200 | {"notifications":[{"notificationID":"$notification()","isRead":true} | "notificationID":"none"
        | "serverErrorCode":"NOT_FOUND"
        * ~notification:$notification()
        == by their own user
        @ a notification
        > bob POST device/notifications/read
        {"notificationIDs":["$notification()"]}
        < 200 | "serverErrorCode":"NOT_FOUND" | !"isRead":true
        == nobody reads them
        > nobody POST device/notifications/read
        {"notificationIDs":[]}
        < 421 | "serverErrorCode":"AUTHENTICATION_REQUIRED"
        == a device renews its own token
        @ a notification
        > ada POST device/tokens/register?clientId=phone
        {"apnsEnvironment":"development","apnsToken":"$device()"}
        < 200 | "apnsEnvironment":"development","apnsToken":"$device()"
        | "webcourierURL":"https://cloud.example.com/device/1/
        == and nobody another's
        @ a notification
        > bob POST device/tokens/register
        {"apnsEnvironment":"development","apnsToken":"$device()"}
        < 404 | "serverErrorCode":"NOT_FOUND" | !webcourierURL
        == who hasn't signed in has no device
        > nobody POST device/tokens/create
        {"apnsEnvironment":"development"}
        < 421 | "serverErrorCode":"AUTHENTICATION_REQUIRED"
        == there are two environments of pushes
        > ada POST device/tokens/create
        {"apnsEnvironment":"other"}
        < 400 | "serverErrorCode":"BAD_REQUEST" | apnsEnvironment
        == a subscription to a query is kept as it is
        > ada POST public/subscriptions/modify
        {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s","subscriptionType":"query",
        "query":{"recordType":"post","filterBy":[{"fieldName":"n","comparator":"EQUALS",
        "fieldValue":{"value":1}}]},"firesOn":["create"],"firesOnce":true,
        "notificationInfo":{"alertBody":"new"}}}]}
        < 200 | "subscriptionID":"s" | "subscriptionType":"query" | "firesOn":["create"] | "firesOnce":true
        | "alertBody":"new" | !serverErrorCode
        * +subscription:s
        == they are listed as they are
        @ a notification
        > ada GET public/subscriptions/list
        < 200 | {"subscriptions":[{"subscriptionID":"posts" | "recordType":"post"
        == each user's own alone
        @ a notification
        > bob GET public/subscriptions/list
        < 200 | "subscriptions":[] | !posts
        == looked up by name
        @ a notification
        > ada POST public/subscriptions/lookup
        {"subscriptions":[{"subscriptionID":"posts"},{"subscriptionID":"none"}]}
        < 200 | "subscriptionID":"posts" | "serverErrorCode":"NOT_FOUND" | "subscriptionID":"none"
        == and taken back
        @ a notification
        > ada POST public/subscriptions/modify
        {"operations":[{"operationType":"delete","subscription":{"subscriptionID":"posts"}}]}
        < 200 | "subscriptionID":"posts" | "deleted":true | !serverErrorCode
        * -subscription:posts
        == by who made them
        @ a notification
        > bob POST public/subscriptions/modify
        {"operations":[{"operationType":"delete","subscription":{"subscriptionID":"posts"}}]}
        < 200 | "serverErrorCode":"NOT_FOUND" | "subscriptionID":"posts"
        == who may not read a type may subscribe to it, and hears nothing
        > bob POST public/subscriptions/modify
        {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s","subscriptionType":"query",
        "query":{"recordType":"secret"},"firesOn":["create"]}}]}
        < 200 | "subscriptionID":"s" | !serverErrorCode
        * +subscription:s
        == who may, hears
        > carol POST public/subscriptions/modify
        {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s","subscriptionType":"query",
        "query":{"recordType":"secret"},"firesOn":["create"]}}]}
        < 200 | "subscriptionID":"s" | !serverErrorCode
        * +subscription:s
        == nobody subscribes
        > nobody POST public/subscriptions/modify
        {"operations":[]}
        < 421 | "serverErrorCode":"AUTHENTICATION_REQUIRED"
        """#
}
