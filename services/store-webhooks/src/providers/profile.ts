/** What a shop knows of a person, as a POS tells it. Undefined: the POS did not say; null: it has none. */
export interface Profile {
  email?: string | null | undefined;
  firstName?: string | null | undefined;
  lastName?: string | null | undefined;
  phone?: string | null | undefined;
}
