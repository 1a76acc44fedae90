package main

// Units in, the packages of the view that import each package (directly or transitively) out.

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

// importersOf maps each package path to the packages of the view, loose ones too, that import any of its variants. Units are
// sorted dependencies first.
func importersOf(units []*unit) map[int32]bitset {
	of := make(map[*unit]bitset, len(units))
	byPath := map[int32]bitset{}
	for i := len(units) - 1; i >= 0; i-- {
		u := units[i]
		var all bitset
		for _, user := range u.users {
			if user.membership != outside && user.membership != otherView {
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
