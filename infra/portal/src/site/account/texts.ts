/** What a page says. */
interface PageTexts {
  title: string;
  lead: string;
  /** On its button. */
  verb: string;
  done: string;
}

/** The texts of the account pages in one language. */
export interface Texts {
  password: PageTexts;
  email: PageTexts;
  deletion: PageTexts;
  newPassword: string;
  showPassword: string;
  emailAddress: string;
  currentPassword: string;
  /** The page was opened without the code of a mail. */
  noCode: string;
  /** Why a request failed, by the `code` of the answer. */
  problems: Readonly<Partial<Record<string, string>>>;
  /** Why a password was refused, by the message of the service. */
  reasons: Readonly<Partial<Record<string, string>>>;
  tooMany: (seconds: number) => string;
  unreachable: string;
  failed: string;
}
