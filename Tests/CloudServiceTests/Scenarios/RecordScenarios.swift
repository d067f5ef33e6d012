/// What `records/...` answers.
enum RecordScenarios {
    static let text = #"""
        == create makes a record, with a name when it has none, and every key that Apple's records have
        > ada POST private/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"todo",
        "fields":{"title":{"value":"y"}}}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "recordName":"x" | "title":{"value":"y","type":"STRING"} | "pluginFields":{} | "deleted":false
        | "created":{"timestamp": | "userRecordName":"_ada" | "deviceID":"1" | "modified": | !serverErrorCode
        | !syncToken
        * +todos/x ~zone:todos
        == create of a record that is there is a conflict
        > ada POST private/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"a","recordType":"todo"}}],
        "zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"CONFLICT" | "reason":"record to insert already exists" | "recordName":"a"
        | !uuid | !serverRecord | !ckErrorCode
        == update changes the named fields
        > ada POST private/records/modify
        {"operations":[{"operationType":"update","record":{"recordName":"a","recordChangeTag":"$tag(todos/a)",
        "fields":{"title":{"value":null}}}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "n":{"value":1,"type":"INT64"} | !title
        * ~todos/a
        == update with a stale tag is a conflict
        > ada POST private/records/modify
        {"operations":[{"operationType":"update","record":{"recordName":"a","recordType":"todo",
        "recordChangeTag":"stale"}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"CONFLICT" | "reason":"client oplock error updating record"
        == update of nothing is not found
        > ada POST private/records/modify
        {"operations":[{"operationType":"update","record":{"recordName":"none","recordType":"todo",
        "recordChangeTag":"x"}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"NOT_FOUND" | "reason":"recordChangeTag specified, but record not found"
        == forceUpdate makes what isn't there
        > ada POST private/records/modify
        {"operations":[{"operationType":"forceUpdate","record":{"recordName":"x","recordType":"todo"}}],
        "zoneID":{"zoneName":"todos"}}
        < 200 | "recordName":"x"
        * +todos/x
        == replace clears the fields that it doesn't name
        > ada POST private/records/modify
        {"operations":[{"operationType":"replace","record":{"recordName":"a","recordType":"todo",
        "recordChangeTag":"$tag(todos/a)","fields":{"n":{"value":2}}}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "n":{"value":2,"type":"INT64"} | !title
        * ~todos/a
        == forceReplace does so whatever the tag
        > ada POST private/records/modify
        {"operations":[{"operationType":"forceReplace","record":{"recordName":"a","recordType":"todo",
        "recordChangeTag":"stale"}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "fields":{} | !title
        * ~todos/a
        == delete needs no tag, and tolerates what clients send along
        > ada POST private/records/modify
        {"operations":[{"operationType":"delete","record":{"recordName":"a","recordType":"todo","fields":{},
        "pluginFields":{}}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "recordName":"a" | "deleted":true | !fields | !recordType
        * -todos/a
        == where the setting says so, delete needs the tag
        @ deletes need tags
        > ada POST private/records/modify
        {"operations":[{"operationType":"delete","record":{"recordName":"a"}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"BAD_REQUEST" | recordChangeTag
        == delete with a stale tag is a conflict
        > ada POST private/records/modify
        {"operations":[{"operationType":"delete","record":{"recordName":"a","recordChangeTag":"stale"}}],
        "zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"CONFLICT"
        == delete of nothing is not found
        > ada POST private/records/modify
        {"operations":[{"operationType":"delete","record":{"recordName":"none"}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"NOT_FOUND"
        == forceDelete succeeds also for a record that never was
        > ada POST private/records/modify
        {"operations":[{"operationType":"forceDelete","record":{"recordName":"none"}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "recordName":"none" | "deleted":true | !serverErrorCode
        == a deletion takes along what hangs on it by DELETE_SELF
        > ada POST private/records/modify
        {"operations":[{"operationType":"forceDelete","record":{"recordName":"list"}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "recordName":"list" | !child
        * -todos/list -todos/child
        == a deletion that a VALIDATE reference forbids is told in the words of Apple's servers
        > ada POST private/records/modify
        {"operations":[{"operationType":"forceDelete","record":{"recordName":"target"}}],
        "zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"VALIDATING_REFERENCE_ERROR"
        | Field=Note, recordID=holder, title=Record delete would violate validating reference, rejecting update
        == a reference by VALIDATE to nothing is refused
        > ada POST private/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"todo",
        "fields":{"to":{"value":{"recordName":"none","action":"VALIDATE"}}}}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"VALIDATING_REFERENCE_ERROR" | Field=to
        == no record is its own parent
        > ada POST private/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"todo",
        "parent":{"recordName":"x"}}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"BAD_REQUEST" | "recordName":"x" | the record 'x' can't be its own parent
        == no records of one request are each other's ancestors; the rest of a request that isn't atomic is saved
        > ada POST private/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"todo",
        "parent":{"recordName":"y"}}},{"operationType":"create","record":{"recordName":"y","recordType":"todo",
        "parent":{"recordName":"x"}}},{"operationType":"create","record":{"recordName":"z","recordType":"todo"}}],
        "zoneID":{"zoneName":"todos"},"atomic":false}
        < 200 | "serverErrorCode":"BAD_REQUEST" | with 'y' as its parent, the record 'x' would be its own ancestor
        | with 'x' as its parent, the record 'y' would be its own ancestor | "recordName":"z"
        * +todos/z
        == nor is a record that was saved before an ancestor of its own, and an atomic request is refused whole
        @ a child of a
        > ada POST private/records/modify
        {"operations":[{"operationType":"forceUpdate","record":{"recordName":"a","recordType":"todo",
        "parent":{"recordName":"kid"}}},{"operationType":"create","record":{"recordName":"z","recordType":"todo"}}],
        "zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"BAD_REQUEST" | the record 'a' would be its own ancestor | "ATOMIC_ERROR"
        == a record has so many ancestors, and no more
        @ a child of a, and one ancestor
        > ada POST private/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"todo",
        "parent":{"recordName":"kid"}}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"BAD_REQUEST" | the record 'x' would have more than 1 ancestors
        == no reference leaves its zone
        > ada POST private/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"todo",
        "fields":{"list":{"value":{"recordName":"o","zoneID":{"zoneName":"other"},"action":"NONE"}}}}}],
        "zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"BAD_REQUEST" | 'list'
        == a custom zone is all or nothing, and each operation says so
        > ada POST private/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"todo"}},
        {"operationType":"create","record":{"recordName":"a","recordType":"todo"}}],"zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"ATOMIC_ERROR" | "serverErrorCode":"CONFLICT"
        == unless the request says otherwise
        > ada POST private/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"todo"}},
        {"operationType":"create","record":{"recordName":"a","recordType":"todo"}}],"zoneID":{"zoneName":"todos"},
        "atomic":false}
        < 200 | "serverErrorCode":"CONFLICT" | !ATOMIC_ERROR
        * +todos/x
        == the default zone is never all or nothing
        > ada POST private/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"todo"}},
        {"operationType":"create","record":{"recordName":"d","recordType":"todo"}}],"atomic":true}
        < 200 | "serverErrorCode":"CONFLICT" | !ATOMIC_ERROR
        * +_defaultZone/x
        == where the setting says so, a failed atomic request is an error as a whole
        @ atomic failures are errors
        > ada POST private/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"todo"}},
        {"operationType":"create","record":{"recordName":"a","recordType":"todo"}}],"zoneID":{"zoneName":"todos"}}
        < 400 | "serverErrorCode":"ATOMIC_ERROR" | "uuid":"00000000 | a: CONFLICT | !"records"
        == answers have the fields of desiredKeys
        > ada POST private/records/modify
        {"operations":[{"operationType":"forceUpdate","record":{"recordName":"a","recordType":"todo"},
        "desiredKeys":["n"],"numbersAsStrings":true}],"zoneID":{"zoneName":"todos"},"desiredKeys":["title"]}
        < 200 | "fields":{"n":{"value":"1","type":"INT64"}} | !title
        * ~todos/a
        == the zone's token comes where it is asked for
        > ada POST private/records/modify?getCurrentSyncToken=True&remapEnums=true&clientId=phone&dsid=1
        {"operations":[{"operationType":"forceUpdate","record":{"recordName":"a","recordType":"todo"}}],
        "zoneID":{"zoneName":"todos"}}
        < 200 | "syncToken":" | "deviceID":"phone"
        * ~todos/a
        == two operations on one record make the request wrong
        > ada POST private/records/modify
        {"operations":[{"operationType":"forceUpdate","record":{"recordName":"x","recordType":"todo"}},
        {"operationType":"delete","record":{"recordName":"x"}}],"zoneID":{"zoneName":"todos"}}
        < 400 | "serverErrorCode":"BAD_REQUEST" | "uuid":"00000000-0000-4000-8000-000000000000"
        | more than one operation
        == too many operations make the request wrong
        @ one operation
        > ada POST private/records/modify
        {"operations":[{"operationType":"forceDelete","record":{"recordName":"x"}},{"operationType":"forceDelete",
        "record":{"recordName":"y"}}],"zoneID":{"zoneName":"todos"}}
        < 400 | "serverErrorCode":"BAD_REQUEST" | more than the maximum number of items in a single request (1)
        == a zone that isn't there is told for each record
        > ada POST private/records/modify
        {"operations":[{"operationType":"forceUpdate","record":{"recordName":"x","recordType":"todo"}}],
        "zoneID":{"zoneName":"none"}}
        < 200 | "serverErrorCode":"ZONE_NOT_FOUND"
        == another user's zone is not there
        > bob POST private/records/modify
        {"operations":[{"operationType":"forceDelete","record":{"recordName":"a"}}],"zoneID":{"zoneName":"todos",
        "ownerRecordName":"_ada"}}
        < 200 | "serverErrorCode":"ZONE_NOT_FOUND"
        == who hasn't signed in writes nothing
        > nobody POST public/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"post"}}]}
        < 421 | "serverErrorCode":"AUTHENTICATION_REQUIRED" | "uuid"
        == a token that isn't one is refused
        > mallory POST public/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"post"}}]}
        < 401 | "serverErrorCode":"AUTHENTICATION_FAILED"
        == everybody who is signed in makes public records
        > bob POST public/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"post"}}]}
        < 200 | "recordName":"x" | "userRecordName":"_bob"
        * +public/x
        == a public record is its maker's to change
        > bob POST public/records/modify
        {"operations":[{"operationType":"forceUpdate","record":{"recordName":"pub","recordType":"post",
        "fields":{"n":{"value":9}}}}]}
        < 200 | "serverErrorCode":"ACCESS_DENIED" | !"n"
        == who lacks the role makes no news
        > bob POST public/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"news"}}]}
        < 200 | "serverErrorCode":"ACCESS_DENIED"
        == who has the role does
        > carol POST public/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"news"}},
        {"operationType":"forceUpdate","record":{"recordName":"news1","recordType":"news"}}]}
        < 200 | "recordName":"x" | !serverErrorCode
        * +public/x ~public/news1
        == in production no type is made by saving a record
        @ production
        > ada POST private/records/modify
        {"operations":[{"operationType":"create","record":{"recordName":"x","recordType":"unknown"}}],
        "zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"BAD_REQUEST" | Cannot create new type unknown in production schema
        == when too many wait the next one is told when to come again
        @ nobody may wait
        > ada POST private/records/modify
        {"operations":[]}
        < 503 | "serverErrorCode":"TRY_AGAIN_LATER" | "retryAfter":5
        == lookup answers in the request's order, and says what isn't there
        > ada POST private/records/lookup
        {"records":[{"recordName":"none"},{"recordName":"a","desiredKeys":["n"]}],"zoneID":{"zoneName":"todos"}}
        < 200 | [{"recordName":"none", | "serverErrorCode":"NOT_FOUND" | "reason":"Record not found"
        | "fields":{"n": | !title
        == lookup is open to the world in the public database
        > nobody POST public/records/lookup
        {"records":[{"recordName":"pub"},{"recordName":"news1"}]}
        < 200 | "recordName":"pub" | "recordName":"news1" | !serverErrorCode
        == and to nobody in others
        > nobody POST private/records/lookup
        {"records":[{"recordName":"a"}],"zoneID":{"zoneName":"todos"}}
        < 421 | AUTHENTICATION_REQUIRED
        == who may not read a type looks nothing up of it
        > bob POST public/records/lookup
        {"records":[{"recordName":"secret1"}]}
        < 200 | serverErrorCode | !"fields"
        == who may, does
        > carol POST public/records/lookup
        {"records":[{"recordName":"secret1"}]}
        < 200 | "recordName":"secret1" | !serverErrorCode
        == another user's record is in no zone
        > bob POST private/records/lookup
        {"records":[{"recordName":"a"}],"zoneID":{"zoneName":"todos","ownerRecordName":"_ada"}}
        < 200 | ZONE_NOT_FOUND
        == the shared database is empty
        > ada POST shared/records/lookup
        {"records":[{"recordName":"a"}],"zoneID":{"zoneName":"todos"}}
        < 200 | ZONE_NOT_FOUND
        == a record that can't be read is an error of its own
        @ a damaged record
        > ada POST private/records/lookup
        {"records":[{"recordName":"a"},{"recordName":"list"}],"zoneID":{"zoneName":"todos"}}
        < 200 | "serverErrorCode":"INTERNAL_ERROR" | "recordName":"list"
        == a lookup requires POST
        > ada GET private/records/lookup
        < 400 | BAD_REQUEST
        == the older feed of a zone
        > ada POST private/records/changes
        {"zoneID":{"zoneName":"todos"},"resultsLimit":2,"reverse":true,"desiredRecordTypes":["todo"]}
        < 200 | "records":[ | "moreComing":true | "syncToken" | "reverse":true | !"zones"
        == it fails as a whole
        > ada POST private/records/changes
        {"zoneID":{"zoneName":"none"}}
        < 404 | "serverErrorCode":"ZONE_NOT_FOUND" | "zoneID"
        == feeds are not of the public database
        > ada POST public/records/changes
        {"zoneID":{"zoneName":"todos"}}
        < 400 | BadRequestException: endpoint not applicable in the database type 'publicdb'
        == shares are not resolved yet
        > ada POST public/records/resolve
        {"shortGUIDs":[]}
        < 400 | not served yet
        == nor accepted
        > ada POST public/records/accept
        {"shortGUIDs":[]}
        < 400 | not served yet
        == nor are zones packed
        > ada POST private/records/zip/prepare
        {}
        < 400 | not served yet
        == or copied
        > ada POST private/records/copy/start
        {}
        < 400 | not served yet
        == in the background
        > ada POST private/records/copy/status
        {}
        < 400 | not served yet
        """#
}
