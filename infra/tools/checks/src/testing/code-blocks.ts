/** A fenced code block of a Markdown page. */
export interface CodeBlock {
  language: string;
  /**
   * Text after the language, which GitHub does not render: `refused` marks requests that show an error, `skip="REASON"`
   * a block that no test can run.
   */
  note: string;
  code: string;
  line: number;
}

/** Returns the fenced code blocks of a page, in order. */
export const codeBlocks = (page: string): CodeBlock[] => {
  const blocks: CodeBlock[] = [];
  let open: CodeBlock | undefined;
  for (const [index, text] of page.split('\n').entries()) {
    if (!text.startsWith('```')) {
      if (open) open.code += `${text}\n`;
    } else if (open) {
      blocks.push(open);
      open = undefined;
    } else {
      const [language = '', ...note] = text.slice('```'.length).split(' ');
      open = { language, note: note.join(' '), code: '', line: index + 1 };
    }
  }
  return blocks;
};

/** Returns why no test runs a block; undefined when a test runs it. */
export const skipReason = ({ note }: CodeBlock): string | undefined => /^skip="(.{8,})"$/.exec(note)?.[1];

const scriptOf = ({ note, code, line }: CodeBlock): string => {
  const heading = `echo "--- line ${line}"\n`;
  if (note === 'refused')
    return `${heading}if answer=$(\n${code}); then echo "expected a refusal, got: $answer"; exit 1; fi\n`;
  return heading + code;
};

/** Joins the shell commands of a page into one bash script, which stops at the first command that fails. */
export const scriptOfPage = (page: string): string => {
  const commands = codeBlocks(page).filter(
    (block) => block.language === 'sh' && skipReason(block) === undefined,
  );
  return commands.length === 0 ? '' : `set -euo pipefail\n${commands.map(scriptOf).join('')}`;
};
