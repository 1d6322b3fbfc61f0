import { DockerfileParser } from 'dockerfile-ast';

/** An instruction, its lines put together. */
export interface Step {
  keyword: string;
  text: string;
}

interface Stages {
  /** Values of the arguments that stand before the first stage. */
  presets: Record<string, string>;
  stages: Map<string, { base: string; steps: Step[] }>;
}

/** A Dockerfile by its stages, in their order. */
export const readStages = (dockerfile: string): Stages => {
  const presets: Record<string, string> = {};
  const stages: Stages['stages'] = new Map();
  let steps: Step[] | undefined;
  for (const instruction of DockerfileParser.parse(dockerfile).getInstructions()) {
    const keyword = instruction.getKeyword();
    const text = instruction
      .getTextContent()
      .replaceAll(/\\\n\s*/g, '')
      .slice(keyword.length)
      .trim();
    if (keyword === 'FROM') {
      const [base = '', , name = ''] = text.split(' ');
      steps = [];
      stages.set(name, { base, steps });
    } else if (steps) steps.push({ keyword, text });
    else
      for (const argument of text.split(' ')) {
        const [name = '', preset = ''] = argument.split(/=(.*)/s);
        presets[name] = preset;
      }
  }
  return { presets, stages };
};
