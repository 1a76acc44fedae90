package main

// Which files contain a name: a file in, hashes of its words out. Comments and strings count, as links in comments do.

import (
	"os"
	"slices"
)

// wordsOf returns the hashes of the words of a file, sorted; nil when it cannot be read.
func (e *engine) wordsOf(file string) []uint32 {
	e.sourceLock.Lock()
	words := e.words[file]
	e.sourceLock.Unlock()
	if words != nil {
		return words
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	start := -1
	for i, b := range data {
		if b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80 {
			if start < 0 {
				start = i
			}
		} else if start >= 0 {
			words = append(words, wordHash(data[start:i]))
			start = -1
		}
	}
	slices.Sort(words)
	words = slices.Clip(slices.Compact(words))
	e.sourceLock.Lock()
	defer e.sourceLock.Unlock()
	e.words[file] = words
	return words
}

// wordHash is the FNV-1a hash of a word.
func wordHash[T string | []byte](word T) uint32 {
	h := uint32(2166136261)
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * 16777619
	}
	return h
}

// mentions reports whether a file contains one of the names, or a word with the hash of one.
func (e *engine) mentions(file string, names map[string]bool) bool {
	if len(names) == 0 {
		return false
	}
	words := e.wordsOf(file)
	if words == nil {
		return true
	}
	for name := range names {
		if _, found := slices.BinarySearch(words, wordHash(name)); found {
			return true
		}
	}
	return false
}
