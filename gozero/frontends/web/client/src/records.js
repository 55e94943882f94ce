// Files that the user opens and saves.

/** The bytes of a file as base64, null where it cannot be read; the server finds out the encoding. */
export const bytesOf = (file) =>
  new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.split(",")[1] ?? "");
    reader.onerror = () => resolve(null); // a folder, or a file that may not be read
    reader.readAsDataURL(file);
  });

export function download(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
