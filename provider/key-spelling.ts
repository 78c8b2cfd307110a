/** What was done to the text of a private key on its way here, if it shows. Quotes nothing of it. */
export function misspelling(text: string): string | undefined {
    if (/-----(\\r)?\\n/.test(text)) {
        return 'has \\n written out in place of its line breaks; put them back, e.g. key.replace(/\\\\n/g, "\\n")';
    }
    if (/\n[ \t]+\S/.test(text.trim()) && !text.includes("PuTTY")) {
        return "has indented lines; give its text as it is in the file";
    }
    return undefined;
}
