# cmake -DOUT=FILE -DHEADER=PATH -DNAMES=a;b -DFILES_a=... -DFILES_b=... -P embed.cmake
# Writes a source with a function NAME(), which HEADER declares, that returns the text of its files, one after another.
# String literals are cut into pieces, because compilers limit their length.
set(source "#include \"${HEADER}\"\n\nnamespace drydock {\n")
foreach(name IN LISTS NAMES)
  string(APPEND source "\nstd::string_view ${name}() {\n  static constexpr char kText[] = {")
  foreach(file IN LISTS FILES_${name})
    file(READ "${file}" hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
    string(REGEX REPLACE "(('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',))" "\\1\n" bytes "${bytes}")
    string(APPEND source "\n${bytes}")
  endforeach()
  string(APPEND source "};\n  return {kText, sizeof(kText)};\n}\n")
endforeach()
string(APPEND source "\n}  // namespace drydock\n")
file(WRITE "${OUT}" "${source}")
