import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { base62 } from './base62.ts';

/** 32 base62 digits hold 190 bits; 6 hold a CRC32. */
const randomDigits = 32;
const checkDigits = 6;
const digits = /^[0-9A-Za-z]*$/;

export interface NewApiKey {
  /** Shown to its owner once and never stored. */
  key: string;
  /** SHA-256 in hex, which is stored. */
  hash: string;
  /** First and last characters, to tell keys apart: `vk_live_3fZ…9aQx`. */
  display: string;
}

/** SHA-256 in hex. A fast hash is enough, because a key has too many random bits to be guessed. */
export const hashApiKey = (key: string): string => hash('sha256', key);

const checkOf = (text: string): string => base62(BigInt(crc32(text)), checkDigits);

/** Makes a key: prefix, 190 random bits in base62, then the CRC32 of both in base62. */
export const makeApiKey = (prefix = 'vk_live_'): NewApiKey => {
  const random = Array.from({ length: randomDigits }, () => base62(BigInt(randomInt(62)), 1));
  const start = prefix + random.join('');
  const key = start + checkOf(start);
  return { key, hash: hashApiKey(key), display: `${key.slice(0, prefix.length + 3)}…${key.slice(-4)}` };
};

/** Whether prefix, length, characters and checksum are those of a key; checked before any query. */
export const isApiKey = (text: string, prefix = 'vk_live_'): boolean =>
  text.startsWith(prefix) &&
  text.length === prefix.length + randomDigits + checkDigits &&
  digits.test(text.slice(prefix.length)) &&
  text.endsWith(checkOf(text.slice(0, -checkDigits)));
