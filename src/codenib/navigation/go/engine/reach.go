package main

// Which packages of the workspace import a package, directly or through others.

type bitset []uint64

func (b bitset) has(i int32) bool { return int(i>>6) < len(b) && b[i>>6]&(1<<(i&63)) != 0 }

func (b *bitset) add(i int32) {
	for int(i>>6) >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[i>>6] |= 1 << (i & 63)
}

func (b *bitset) union(other bitset) {
	for len(*b) < len(other) {
		*b = append(*b, 0)
	}
	for i, word := range other {
		(*b)[i] |= word
	}
}

func (b bitset) clone() bitset { return append(bitset(nil), b...) }

// reachOf gives the importing workspace packages of each package path, all variants together. Units come dependencies first.
func reachOf(units []*unit) map[int32]bitset {
	of := make(map[*unit]bitset, len(units))
	byPath := map[int32]bitset{}
	for i := len(units) - 1; i >= 0; i-- {
		u := units[i]
		var all bitset
		for _, user := range u.users {
			if user.standing == workspace {
				all.add(user.path)
			}
			all.union(of[user])
		}
		of[u] = all
		path := byPath[u.path]
		path.union(all)
		byPath[u.path] = path
	}
	return byPath
}
