import { int32Max, integerParameter } from './integer.ts';

/** The pattern of docs/contracts/quest-service.md; it also accepts `-0`, which is 0. */
const signed = /^-?(?:0|[1-9]\d*)$/;

/**
 * `Skip` and `Take`, to be spread into a strict object; the body is a bare array. Callers write the
 * names in any case: give the route `anyCaseQuery`. Source: docs/contracts/quest-service.md.
 */
export const skipTakeQuery = {
  Skip: integerParameter(
    { min: 0, max: int32Max, fallback: 0, description: 'Number of items to skip before results start' },
    signed,
  ),
  Take: integerParameter(
    { min: 0, max: 1000, fallback: 100, description: 'Number of items to return after skipping' },
    signed,
  ),
};

export interface Window {
  /** Rows before the window. */
  offset: bigint;
  /** Rows in it at most; may be 0. */
  limit: number;
}

/** The offset and limit of a request. */
export const windowOf = ({ Skip, Take }: { Skip: number; Take: number }): Window => ({
  offset: BigInt(Skip),
  limit: Take,
});
