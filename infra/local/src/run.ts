import { spawn } from "node:child_process";
import type { Account } from "./account.ts";

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  account?: Account | undefined;
}

export interface RunResult {
  /** The exit code; null when the program could not be started or died of a signal. */
  code: number | null;
  stdout: string;
  /** Both streams in the order in which they came. */
  output: string;
}

/** Runs a program to its end without a shell. Never throws: a program that cannot start gives code null. */
export const run = (
  file: string,
  args: readonly string[],
  { cwd = "/", env, account }: RunOptions = {},
): Promise<RunResult> =>
  new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      ...(env && { env }),
      ...account,
    });
    let stdout = "";
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk;
      output += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => (output += chunk));
    child.on("error", (error) => resolve({ code: null, stdout, output: output + error.message }));
    child.on("close", (code) => resolve({ code, stdout, output }));
  });
