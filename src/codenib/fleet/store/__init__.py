"""The store of a fleet behind a URL: content-addressed objects, heads that move by compare-and-swap.

objects = ObjectStore.open("s3://bucket/prefix")    # objects.py; or file:///…, gs://…, az://…, memory:///name
pushed = push(objects, "org/name", store, snapshot_id, refs=["main"])    # publish.py; a local `Store`
head = objects.head("org/name", "main")             # None: nothing was published; one small request
head.views                                          # view → profile digest: what need not be built again
objects.repositories(); objects.heads("org/name")   # listings

reader = FleetReader(objects)                       # reader.py; downloads what is opened into a cache
workspace = reader.open("org/name", ref="main")     # a `Workspace` of that snapshot; needs no git
reader.install("org/name", store, ref="main")       # into a local `Store`, to maintain from it

packs = RecordPacks(objects, "records")             # records.py; or "embeddings"
packs.refresh()                                     # learn of the packs of others
keys = snapshot_keys(snapshot)                      # of what the views derive from its blobs
packs.pull(keys, cache); packs.push(keys, cache)    # `cache` is a local `RecordCache`
"""
